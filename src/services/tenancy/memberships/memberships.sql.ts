import type { Context } from '../../../context.ts';
import { textAt } from '../../../database/dialect-sql.ts';
import type { Role } from '../../../database/models/membership.ts';
import { dialectOfDatabase, select, selectAmong } from '../../../database/select.ts';
import { likeWith } from '../../../text/like.ts';
import { pushedIn } from '../../foundation/domain-names/pushed.sql.ts';

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
export async function isRemoved(organizationId: string, address: string): Promise<boolean> {
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

/** The members to find. `from` is an id; with `back`, it comes after them, and the last are first. */
interface Wanted {
  from: string;
  back: boolean;
  limit: number;
  q?: string | undefined;
  role?: Role | undefined;
}

/** The most members that one search looks at, so that it does not hold others up. */
const maxSearched = 10_000;

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
  const hides = q !== undefined && (await hidesPeople(organizationId));
  const members = `SELECT account_id, role FROM memberships
    WHERE organization_id = $1 AND account_id ${back ? '<' : '>'} $2 ORDER BY account_id ${order}`;
  const bind: unknown[] = [organizationId, from, limit];
  const conditions: string[] = [];
  if (role !== undefined) conditions.push(`m.role = $${bind.push(role)}`);
  if (q !== undefined) {
    const some = spellings(q).map((spelling) => `$${bind.push(likeWith(spelling))}`);
    conditions.push(isShownWith(some, hides));
  }
  const filtered = conditions.length > 0;
  const rows = await select<{ id: string }>(
    `SELECT m.account_id AS id FROM (${members}${filtered ? ` LIMIT ${maxSearched}` : ''}) m
       ${q === undefined ? '' : 'JOIN accounts a ON a.id = m.account_id'} ${hides ? said : ''}
      ${filtered ? `WHERE ${conditions.join(' AND ')}` : ''}
      ORDER BY m.account_id ${order} LIMIT $3`,
    bind,
  );
  const ids = rows.map(({ id }) => id);
  if (!filtered || ids.length === limit) return { ids, end: null };
  const [last] = await select<{ id: string }>(
    `SELECT account_id AS id FROM (${members} LIMIT 1 OFFSET ${maxSearched - 1}) m`,
    [organizationId, from],
  );
  return { ids, end: last?.id ?? null };
}

/** Joins the SCIM record that stands for the person; see `shownTo`. */
const said = `LEFT JOIN scim_records r ON r.organization_id = $1 AND r.account_id = m.account_id
  AND r.link IN ('attached', 'created') AND NOT EXISTS (SELECT 1 FROM domains d
    WHERE d.organization_id = $1 AND d.state = 'Verified' AND a.email LIKE '%@' || d.name)`;

/** Whether a SCIM record may stand for a member. Without one, a search is cheaper. */
async function hidesPeople(organizationId: string): Promise<boolean> {
  const rows = await select(
    `SELECT 1 AS one FROM scim_records
      WHERE organization_id = $1 AND link IN ('attached', 'created') LIMIT 1`,
    [organizationId],
  );
  return rows.length > 0;
}

/** The condition that what the organization sees of the person is like one of the patterns. */
function isShownWith(patterns: string[], hides: boolean): string {
  const dialect = dialectOfDatabase();
  const like = (text: string) => patterns.map((pattern) => `${text} LIKE ${pattern} ESCAPE '\\'`);
  const name = dialect === 'sqlite' ? 'a.name' : 'lower(a.name)';
  const account = [...like(name), ...like('a.email')].join(' OR ');
  if (!hides) return `(${account})`;
  const names = [
    ['name', 'formatted'],
    ['name', 'givenName'],
    ['name', 'familyName'],
    ['displayName'],
  ].map((path) => `COALESCE(${textAt(dialect, 'r.search', path)}, '')`);
  const record = like(`(${names.join(" || ' ' || ")} || ' ' || r.user_name_canonical)`).join(
    ' OR ',
  );
  return `CASE WHEN r.id IS NULL THEN ${account} ELSE ${record} END`;
}

/**
 * The spellings to look for. SQLite lowers only the letters of ASCII, so the first letters of words
 * are looked for as capitals too.
 */
function spellings(q: string): string[] {
  const lower = q.toLowerCase();
  const capital = lower.replace(/(?<!\p{L})\p{L}/gu, (letter) =>
    letter > '\x7f' ? letter.toUpperCase() : letter,
  );
  return capital === lower ? [lower] : [lower, capital];
}
