import { select } from '../../database/select.ts';

// The SQL that summarizes the instance.

/** The name of the last applied migration; null if none was. */
export async function readLastMigration(): Promise<string | null> {
  const [row] = await select<{ name: string | null }>(
    'SELECT MAX(name) AS name FROM migrations',
    [],
  );
  return row?.name ?? null;
}

/** The version number of a PostgreSQL server, such as 160004. */
export async function readServerVersion(): Promise<number> {
  const [server] = await select<{ version: string }>(
    "SELECT current_setting('server_version_num') AS version",
    [],
  );
  return Number(server?.version);
}

// Each table or index is read once, because an instance may have thousands of organizations.
const query = `SELECT o.id, o.slug, o.name, COALESCE(m.members, 0) AS members,
    COALESCE(w.owners, 0) AS owners, COALESCE(d.verified, 0) AS verified,
    COALESCE(d.pending, 0) AS pending, sso.enabled AS sso, ldap.enabled AS ldap,
    t.organization_id IS NOT NULL AS scim, t.last_used_at AS "scimUsed", s.last AS "lastSignIn"
  FROM organizations o
    LEFT JOIN (SELECT organization_id, COUNT(*) AS members
      FROM memberships GROUP BY organization_id) m ON m.organization_id = o.id
    LEFT JOIN (SELECT organization_id, COUNT(*) AS owners
      FROM memberships WHERE role = 'owner' GROUP BY organization_id) w ON w.organization_id = o.id
    LEFT JOIN (SELECT organization_id, COUNT(CASE state WHEN 'Verified' THEN 1 END) AS verified,
        COUNT(CASE state WHEN 'Pending' THEN 1 END) AS pending
      FROM domains GROUP BY organization_id) d ON d.organization_id = o.id
    LEFT JOIN (SELECT m.organization_id, MAX(s.created_at) AS last
      FROM sessions s JOIN memberships m ON m.account_id = s.account_id
      GROUP BY m.organization_id) s ON s.organization_id = o.id
    LEFT JOIN sso_connections sso ON sso.organization_id = o.id
    LEFT JOIN ldap_connections ldap ON ldap.organization_id = o.id
    LEFT JOIN scim_tokens t ON t.organization_id = o.id
  ORDER BY o.id`;

/** An organization and its numbers. */
interface Summary {
  id: string;
  slug: string;
  name: string;
  members: number;
  owners: number;
  verified: number;
  pending: number;
  sso: boolean | null;
  ldap: boolean | null;
  scim: boolean;
  scimUsed: Date | null;
  lastSignIn: Date | null;
}

/** Summarizes every organization. */
export function summarizeOrganizations(): Promise<Summary[]> {
  return select<Summary>(query, [], {
    columns: { sso: 'flag', ldap: 'flag', scim: 'flag', scimUsed: 'time', lastSignIn: 'time' },
  });
}
