import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Context } from '../../../context.ts';
import { joinedTexts, textAt, textCondition } from '../../../database/dialect-sql.ts';
import type { Account } from '../../../database/models/account.ts';
import type { Role } from '../../../database/models/membership.ts';
import { dialectOfDatabase, select, selectAmong } from '../../../database/select.ts';
import { stands } from '../../foundation/authority/shown.sql.ts';
import { pushedIn } from '../../foundation/domain-names/pushed.sql.ts';
import type { MemberFacts } from './membership.ts';

// The SQL that finds members.

/** Whether the account belongs to the organization, except by `pushedIn` (security O8). */
export async function isJoined(
  ctx: Pick<Context, 'config'>,
  organizationId: string,
  accountId: string,
): Promise<boolean> {
  const rows = await select(
    `SELECT 1 AS one FROM memberships m JOIN accounts a ON a.id = m.account_id
      WHERE m.organization_id = $1 AND a.id = $2 AND NOT ${pushedIn(ctx)}`,
    [organizationId, accountId],
  );
  return rows.length > 0;
}

/** Whether the account is a member of any organization, except by `pushedIn` (security O8). */
export async function belongsSomewhere(
  ctx: Pick<Context, 'config'>,
  accountId: string,
): Promise<boolean> {
  const rows = await select(
    `SELECT 1 AS one FROM memberships m JOIN accounts a ON a.id = m.account_id
      WHERE a.id = $1 AND NOT ${pushedIn(ctx)} LIMIT 1`,
    [accountId],
  );
  return rows.length > 0;
}

/** The member with this address, and whether `pushedIn` holds for it. Null if there is none. */
export async function findMember(
  ctx: Pick<Context, 'config'>,
  organizationId: string,
  address: string,
): Promise<{ id: string; pushed: boolean } | null> {
  const [member = null] = await select<{ id: string; pushed: boolean }>(
    `SELECT a.id, CASE WHEN ${pushedIn(ctx)} THEN 1 ELSE 0 END AS pushed
       FROM memberships m JOIN accounts a ON a.id = m.account_id
      WHERE m.organization_id = $1 AND a.email = $2`,
    [organizationId, address],
    { columns: { pushed: 'flag' } },
  );
  return member;
}

/** Whether the account of this address has a tombstone in the organization. */
export async function hasTombstone(organizationId: string, address: string): Promise<boolean> {
  const rows = await select(
    `SELECT 1 AS one FROM tombstones t JOIN accounts a ON a.id = t.account_id
      WHERE t.organization_id = $1 AND a.email = $2`,
    [organizationId, address],
  );
  return rows.length > 0;
}

/** Those of the members that SCIM pushed (`pushedIn`). */
export async function findPushedAmong(
  ctx: Pick<Context, 'config'>,
  organizationId: string,
  accountIds: string[],
): Promise<Set<string>> {
  const pushed = await selectAmong<{ id: string }>(
    accountIds,
    (list, organization) => `SELECT a.id FROM memberships m JOIN accounts a ON a.id = m.account_id
      WHERE a.id IN (${list}) AND m.organization_id = ${organization} AND ${pushedIn(ctx)}`,
    [organizationId],
  );
  return new Set(pushed.map(({ id }) => id));
}

/** The owners of the organization that SCIM pushed (`pushedIn`). */
export async function findPushedOwners(
  ctx: Pick<Context, 'config'>,
  organizationId: string,
): Promise<Set<string>> {
  const rows = await select<{ id: string }>(
    `SELECT a.id FROM memberships m JOIN accounts a ON a.id = m.account_id
      WHERE m.organization_id = $1 AND m.role = 'owner' AND ${pushedIn(ctx)}`,
    [organizationId],
  );
  return new Set(rows.map(({ id }) => id));
}

/** The ids of members' tokens with scope admin, in order, except of members by `pushedIn`. */
export async function findAdminTokens(
  ctx: Pick<Context, 'config'>,
  organizationId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await select<{ id: string }>(
    `SELECT t.id FROM access_tokens t JOIN accounts a ON a.id = t.account_id
       JOIN memberships m ON m.account_id = a.id AND m.organization_id = $1
      WHERE t.scope = 'admin' AND t.id > $2 AND NOT ${pushedIn(ctx)} ORDER BY t.id LIMIT $3`,
    [organizationId, after, limit],
  );
  return rows.map(({ id }) => id);
}

/** One kind of credential that can have the mark `unapproved`, in the events' word. */
export interface Mark {
  kind: string;
  table: string;
  /** The column of the mark. */
  mark: string;
}

/** The accounts with marked credentials, and the kinds of these. */
export function findMarked(
  marked: readonly Mark[],
  accountIds: string[],
): Promise<{ accountId: string; kind: string }[]> {
  const marks = marked.map(({ kind, table, mark }) => {
    const owner = table === 'accounts' ? 'id' : 'account_id';
    const lives = table === 'sessions' ? ' AND ended_at IS NULL' : '';
    return `SELECT ${owner} AS "accountId", '${kind}' AS kind FROM ${table} WHERE ${owner} IN (LIST) AND ${mark}${lives}`;
  });
  return selectAmong<{ accountId: string; kind: string }>(accountIds, (list) =>
    marks.join(' UNION ALL ').replaceAll('LIST', list),
  );
}

/** A membership with its account. */
type MemberRow = MemberFacts & Pick<Account, 'id' | 'email' | 'name'>;

/** At most 200 members, in the order of their ids. */
export function readMembers(organizationId: string, accountIds: string[]): Promise<MemberRow[]> {
  return selectAmong<MemberRow>(
    accountIds,
    // PostgreSQL may read accounts first, and does not derive the second list from the first.
    (list, organization) => `SELECT m.account_id AS "accountId", m.role, m.synced, m.origin,
        m.joined_at AS "joinedAt", a.id, a.email, a.name
       FROM memberships m JOIN accounts a ON a.id = m.account_id
      WHERE m.organization_id = ${organization} AND m.account_id IN (${list}) AND a.id IN (${list})
      ORDER BY m.account_id`,
    [organizationId],
    { columns: { synced: 'flag', origin: 'json', joinedAt: 'time' } },
  );
}

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
