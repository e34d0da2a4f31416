import type { Account } from '../../../database/models/account.ts';
import type { Membership, Role } from '../../../database/models/membership.ts';
import { execute, selectTogether } from '../../../database/select.ts';
import { endingThrough } from '../../people/sessions/sessions.sql.ts';

// The SQL that writes and deletes a membership.

type NewMembership = Pick<
  Membership,
  'organizationId' | 'accountId' | 'role' | 'origin' | 'joinedAt' | 'synced'
>;

/** Writes a membership, and lifts the tombstone. Returns whether there are former addresses. */
export async function insertMembership(row: NewMembership): Promise<boolean> {
  const { organizationId, accountId, role, origin, joinedAt, synced } = row;
  const [added] = await selectTogether<{ hasFormer: boolean }>(
    [
      `INSERT INTO memberships (organization_id, account_id, role, origin, joined_at, synced)
       VALUES ($1, $2, $3, $4, $5, $6)
       RETURNING EXISTS (SELECT 1 FROM former_addresses WHERE organization_id = $1) AS "hasFormer"`,
      'DELETE FROM tombstones WHERE organization_id = $1 AND account_id = $2',
    ],
    [organizationId, accountId, role, JSON.stringify(origin), joinedAt, synced],
    { columns: { hasFormer: 'flag' } },
  );
  return added?.hasFormer === true;
}

const ofSessions = 'session_id IN (SELECT id FROM sessions WHERE account_id = $2)';
const atOrigins = `origin IN (SELECT o.origin FROM client_origins o
  JOIN clients c ON c.id = o.client_id WHERE c.organization_id = $1)`;

/**
 * Ends the person's sign-ins at the organization's clients, so that a later membership does not
 * revive them. If a client gets logout messages, its grant stays until `noticeEnds` finds it.
 */
const endingAtClients = [
  `DELETE FROM host_tickets WHERE ${ofSessions} AND ${atOrigins}`,
  `DELETE FROM host_sessions WHERE ${ofSessions} AND ${atOrigins}`,
  `DELETE FROM provider_records WHERE grant_id IN
     (SELECT g.grant_id FROM provider_records g JOIN clients c ON c.id = g.client_id
       WHERE g.model = 'Grant' AND c.organization_id = $1 AND g.${ofSessions})
     AND (model <> 'Grant' OR client_id IN
       (SELECT id FROM clients WHERE backchannel_logout_uri IS NULL))`,
];

/** A member, and the domain of the account's address. */
interface Leaving {
  organizationId: string;
  account: Pick<Account, 'id' | 'email'>;
  domain: string | null;
}

/**
 * Deletes the membership, and ends all that it gave. Sets the tombstone, and deletes the pending
 * invitation. Returns the former role; null if there was no membership.
 */
export async function deleteMembership(
  { organizationId, account, domain }: Leaving,
  now: Date,
): Promise<Role | null> {
  const [ended] = await selectTogether<{ role: Role }>(
    [
      'DELETE FROM memberships WHERE organization_id = $1 AND account_id = $2 RETURNING role',
      `INSERT INTO tombstones (organization_id, account_id, set_at) VALUES ($1, $2, $3)
       ON CONFLICT (organization_id, account_id) DO UPDATE SET set_at = excluded.set_at`,
      // An earlier invitation must not lift the tombstone.
      'DELETE FROM invitations WHERE organization_id = $1 AND email = $4 AND accepted_at IS NULL',
      'DELETE FROM setup_links WHERE organization_id = $1 AND account_id = $2',
      endingThrough,
      ...endingAtClients,
    ],
    [organizationId, account.id, now, account.email, domain],
  );
  await leaveProjects(organizationId, account.id);
  return ended?.role ?? null;
}

/**
 * Deletes the account's project memberships in the organization. Delete the membership in the
 * organization first, in the same transaction: adding project members locks that row.
 */
async function leaveProjects(organizationId: string, accountId: string): Promise<void> {
  await execute(
    `DELETE FROM project_memberships WHERE account_id = $1
        AND project_id IN (SELECT id FROM projects WHERE organization_id = $2)`,
    [accountId, organizationId],
  );
}
