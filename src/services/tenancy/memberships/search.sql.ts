import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { joinedTexts, textAt, textCondition } from '../../../database/dialect-sql.ts';
import type { Role } from '../../../database/models/membership.ts';
import { dialectOfDatabase, select } from '../../../database/select.ts';
import { stands } from '../../foundation/authority/shown.sql.ts';

// The SQL that searches members, a slice at a time (security O15).

/** The members to find. `from` is an id; with `back`, it comes after them, and the last are first. */
interface Wanted {
  from: string;
  back: boolean;
  limit: number;
  q?: string | undefined;
  role?: Role | undefined;
}

/** The maximum number of members that one search reads, so that other work need not wait. */
const maxSearched = 10_000;

/** The members that a search looks at before it lets other work run; fewer with SCIM records. */
const searchedAtOnce = { plain: 1000, withRecords: 200 };

/** The part of a name or address that a search looks at, in characters. */
const maxLookedAt = 200;

/**
 * The ids of the organization's members from `from` on, in order of their ids. `q` finds a part of
 * the name or address that the organization sees. If the search stops before the last member, `end`
 * is the last id that it looked at; else null.
 */
export async function findMembers(
  organizationId: string,
  { from, back, limit, q, role }: Wanted,
): Promise<{ ids: string[]; end: string | null }> {
  const order = back ? 'DESC' : 'ASC';
  const members = `SELECT account_id AS id FROM memberships
    WHERE organization_id = $1 AND account_id ${back ? '<' : '>'} $2 ORDER BY account_id ${order} LIMIT $3`;
  if (q === undefined && role === undefined) {
    const rows = await select<{ id: string }>(members, [organizationId, from, limit]);
    return { ids: rows.map(({ id }) => id), end: null };
  }
  const hides = q !== undefined && (await hidesPeople(organizationId));
  const edge = `SELECT COUNT(*) AS count, ${back ? 'MIN' : 'MAX'}(CAST(m.id AS TEXT)) AS last FROM (${members}) m`;
  const { sql, more } = searchOf({ q, role }, { back, hides });
  const atFirst = q === undefined ? maxSearched : searchedAtOnce[hides ? 'withRecords' : 'plain'];
  const ids: string[] = [];
  let last = from;
  for (let searched = 0; searched < maxSearched; ) {
    if (searched > 0) await yieldToEventLoop();
    // A query of PostgreSQL does not hold the process, so the rest is one query.
    const isRest = searched > 0 && dialectOfDatabase() === 'postgres';
    const atOnce = isRest ? maxSearched - searched : atFirst;
    const [slice] = await select<Slice>(edge, [organizationId, last, atOnce]);
    if (slice === undefined || slice.last === null) return { ids, end: null };
    const [seen] = await select<Found>(sql, [organizationId, last, slice.last, ...more]);
    const found = seen?.found?.split(',').toSorted() ?? [];
    ids.push(...(back ? found.reverse() : found));
    if (ids.length >= limit) return { ids: ids.slice(0, limit), end: null };
    if (slice.count < atOnce) return { ids, end: null };
    last = slice.last;
    searched += atOnce;
  }
  return { ids, end: last };
}

/** The statement that searches a slice of the members, and its parameters from the fourth on. */
function searchOf(
  { q, role }: Pick<Wanted, 'q' | 'role'>,
  { back, hides }: { back: boolean; hides: boolean },
): { sql: string; more: unknown[] } {
  const more: unknown[] = [];
  const parameter = (value: unknown) => `$${more.push(value) + 3}`;
  const conditions: string[] = [];
  if (role !== undefined) conditions.push(`m.role = ${parameter(role)}`);
  if (q !== undefined) conditions.push(isShownWith(spellings(q).map(parameter), hides));
  const id = 'CAST(m.account_id AS TEXT)';
  const ids = joinedTexts(
    dialectOfDatabase(),
    `CASE WHEN ${conditions.join(' AND ')} THEN ${id} END`,
  );
  const sql = `SELECT ${ids} AS found FROM memberships m WHERE m.organization_id = $1
    AND m.account_id ${back ? '<' : '>'} $2 AND m.account_id ${back ? '>=' : '<='} $3`;
  return { sql, more };
}

/** A part of the members that a search looks at. */
interface Slice {
  count: number;
  /** The id of the last one; null if there are none. */
  last: string | null;
}

/** The ids of the members that a search finds in a slice, with commas between; null for none. */
interface Found {
  found: string | null;
}

/**
 * Joins the SCIM record that stands for the person; see `shownTo`. With `IS TRUE`, PostgreSQL finds
 * the record by its account, and cannot read all records of the organization for each member.
 */
const said = `LEFT JOIN scim_records r ON r.account_id = a.id AND (r.organization_id = $1) IS TRUE
  AND r.${stands} AND NOT EXISTS (SELECT 1 FROM domains d
    WHERE d.organization_id = $1 AND d.state = 'Verified' AND a.email LIKE '%@' || d.name)`;

/** Whether a SCIM record may stand for a member. Without one, a search is cheaper. */
async function hidesPeople(organizationId: string): Promise<boolean> {
  const rows = await select(
    `SELECT 1 AS one FROM scim_records
      WHERE organization_id = $1 AND ${stands} LIMIT 1`,
    [organizationId],
  );
  return rows.length > 0;
}

/**
 * The condition that what the organization sees of the member `m` contains one of the texts. The
 * account is read by a subquery for each member. With a join, PostgreSQL compares each member with
 * each account if its statistics are older than the organization.
 */
function isShownWith(wanted: string[], hides: boolean): string {
  const dialect = dialectOfDatabase();
  // Not LIKE, whose cost is the length of the text times that of the pattern.
  const contains = (text: string) =>
    wanted.map((part) => textCondition(dialect, text, 'co', part)).join(' OR ');
  // The address is stored in lower case.
  const account = [beginOf('a.name'), 'a.email'].map(contains).join(' OR ');
  const read = (condition: string, joined = '') =>
    `(SELECT ${condition} FROM accounts a ${joined} WHERE a.id = m.account_id)`;
  if (!hides) return read(account);
  const names = [
    ['name', 'formatted'],
    ['name', 'givenName'],
    ['name', 'familyName'],
    ['displayName'],
  ].map((path) => `COALESCE(${beginOf(textAt(dialect, 'r.search', path))}, '')`);
  const record = contains([...names, beginOf('r.user_name_canonical')].join(" || ' ' || "));
  return read(`CASE WHEN r.id IS NULL THEN ${account} ELSE ${record} END`, said);
}

/** The part of a text that a search looks at. */
function beginOf(text: string): string {
  return `lower(substr(${text}, 1, ${maxLookedAt}))`;
}

/**
 * The spellings to look for. SQLite lower-cases only ASCII letters, so the first letters of words
 * are also looked for as capitals.
 */
function spellings(q: string): string[] {
  const lower = q.toLowerCase();
  const capital = lower.replace(/(?<!\p{L})\p{L}/gu, (letter) =>
    letter > '\x7f' ? letter.toUpperCase() : letter,
  );
  return capital === lower ? [lower] : [lower, capital];
}
