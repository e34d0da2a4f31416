import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { select, selectAmong } from '../../../database/select.ts';
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
