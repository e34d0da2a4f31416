import type { Context } from '../../../context.ts';
import { select } from '../../../database/select.ts';
import { pushedIn } from '../../foundation/domain-names/pushed.sql.ts';

// The facts about accounts that decide whether a person has a way to sign in.

/** What an account has to sign in with. */
export interface Holding {
  id: string;
  email: string | null;
  name: string;
  password: boolean;
  /** A passkey that signs in without a password. */
  passkey: boolean;
  google: boolean;
  github: boolean;
  /** An identity of an enabled directory; `approvedDirectory`: of an approved one (security I8). */
  directory: boolean;
  approvedDirectory: boolean;
  /** The account owns an organization. */
  owns: boolean;
}

const columns = {
  password: 'flag',
  passkey: 'flag',
  google: 'flag',
  github: 'flag',
  directory: 'flag',
  approvedDirectory: 'flag',
  owns: 'flag',
} as const;

/** The facts of a Holding about the account `a`. `except` adds a condition on its passkeys. */
function factsOf(except = ''): string {
  const social = (provider: string) =>
    `SELECT 1 FROM identities i WHERE i.account_id = a.id AND i.connection_id = '${provider}'`;
  const directory = `SELECT 1 FROM identities i JOIN ldap_connections c ON CAST(c.id AS TEXT) = i.connection_id
    WHERE i.account_id = a.id AND c.enabled`;
  const facts = {
    password: 'a.password_hash IS NOT NULL',
    passkey: `EXISTS (SELECT 1 FROM passkeys p
      WHERE p.account_id = a.id AND p.signs_in AND p.suspended_at IS NULL${except})`,
    google: `EXISTS (${social('google')})`,
    github: `EXISTS (${social('github')})`,
    directory: `EXISTS (${directory})`,
    approvedDirectory: `EXISTS (${directory} AND c.approved)`,
    owns: `EXISTS (SELECT 1 FROM memberships o WHERE o.account_id = a.id AND o.role = 'owner')`,
  };
  const flags = Object.entries(facts).map(
    ([name, fact]) => `CASE WHEN ${fact} THEN 1 ELSE 0 END AS "${name}"`,
  );
  return `a.id, a.email, a.name, ${flags.join(', ')}`;
}

/** What the account has; `without` leaves out one passkey. */
export async function readHolding(accountId: string, without?: string): Promise<Holding | null> {
  const except = without === undefined ? '' : ' AND p.id <> $2';
  const [holding = null] = await select<Holding>(
    `SELECT ${factsOf(except)} FROM accounts a WHERE a.id = $1`,
    [accountId, ...(without === undefined ? [] : [without])],
    { columns },
  );
  return holding;
}

/**
 * What the next members after an id have, in order of their ids. Leaves out disabled accounts and
 * those that are not the organization's own (`pushedIn`).
 */
export function readHoldings(
  ctx: Pick<Context, 'config'>,
  organizationId: string,
  { after, limit }: { after: string; limit: number },
): Promise<Holding[]> {
  return select<Holding>(
    `SELECT ${factsOf()} FROM memberships m JOIN accounts a ON a.id = m.account_id
      WHERE m.organization_id = $1 AND m.account_id > $2 AND a.disabled_at IS NULL AND NOT ${pushedIn(ctx)}
      ORDER BY m.account_id LIMIT $3`,
    [organizationId, after, limit],
    { columns },
  );
}

/** What an owner has, and the organization that they own. */
export type OwnerHolding = Holding & { organizationId: string };

/** A row of the owners of several organizations, in order of organization and account. */
export interface OwnerPlace {
  organizationId: string;
  accountId: string;
}

/**
 * What the next owners after a place have, in order, up to the organization `last`. Leaves out
 * disabled accounts.
 */
export function readOwnerHoldings(
  after: OwnerPlace,
  last: string,
  limit: number,
): Promise<OwnerHolding[]> {
  return select<OwnerHolding>(
    `SELECT m.organization_id AS "organizationId", ${factsOf()}
       FROM memberships m JOIN accounts a ON a.id = m.account_id
      WHERE m.role = 'owner' AND (m.organization_id, m.account_id) > ($1, $2)
        AND m.organization_id <= $3 AND a.disabled_at IS NULL
      ORDER BY m.organization_id, m.account_id LIMIT $4`,
    [after.organizationId, after.accountId, last, limit],
    { columns },
  );
}
