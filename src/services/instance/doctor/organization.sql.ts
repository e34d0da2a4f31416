import { select } from '../../../database/select.ts';

// The SQL of the checks of an organization.

/** The names of up to `max` mapped groups that SCIM does not push. */
export async function findUnpushed(organizationId: string, max: number): Promise<string[]> {
  const rows = await select<{ group: string }>(
    `SELECT DISTINCT m.group_name AS "group" FROM group_mappings m
      WHERE m.organization_id = $1 AND NOT EXISTS (SELECT 1 FROM scim_groups g
        WHERE g.organization_id = $1
          AND (g.display_name = m.group_name OR g.external_id = m.group_name))
      ORDER BY m.group_name LIMIT ${max}`,
    [organizationId],
  );
  return rows.map(({ group }) => group);
}

/**
 * Up to `max` accounts with a second factor and an identity of the organization's single sign-on
 * that are owners somewhere, each by its address or name.
 */
export async function findOwnersWithFactor(organizationId: string, max: number): Promise<string[]> {
  const rows = await select<{ called: string }>(
    `SELECT DISTINCT a.id, COALESCE(a.email, a.name) AS called FROM sso_connections c
      JOIN identities i ON i.connection_id = CAST(c.id AS TEXT)
      JOIN accounts a ON a.id = i.account_id
      WHERE c.organization_id = $1 AND (a.totp_enabled_at IS NOT NULL OR a.has_passkey)
        AND EXISTS (SELECT 1 FROM memberships m WHERE m.account_id = a.id AND m.role = 'owner')
      ORDER BY a.id LIMIT ${max}`,
    [organizationId],
  );
  return rows.map(({ called }) => called);
}
