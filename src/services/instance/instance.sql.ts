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

// This is a single query, because an instance may have thousands of organizations.
const query = `SELECT o.id, o.slug, o.name,
    (SELECT COUNT(*) FROM memberships m WHERE m.organization_id = o.id) AS members,
    (SELECT COUNT(*) FROM memberships m WHERE m.organization_id = o.id AND m.role = 'owner') AS owners,
    (SELECT COUNT(*) FROM domains d WHERE d.organization_id = o.id AND d.state = 'Verified') AS verified,
    (SELECT COUNT(*) FROM domains d WHERE d.organization_id = o.id AND d.state = 'Pending') AS pending,
    (SELECT c.enabled FROM sso_connections c WHERE c.organization_id = o.id) AS sso,
    (SELECT c.enabled FROM ldap_connections c WHERE c.organization_id = o.id) AS ldap,
    (SELECT COUNT(*) FROM scim_tokens t WHERE t.organization_id = o.id) AS scim,
    (SELECT t.last_used_at FROM scim_tokens t WHERE t.organization_id = o.id) AS "scimUsed",
    (SELECT MAX(s.created_at) FROM sessions s JOIN memberships m ON m.account_id = s.account_id
      WHERE m.organization_id = o.id) AS "lastSignIn"
  FROM organizations o ORDER BY o.id`;

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
  scim: number;
  scimUsed: Date | null;
  lastSignIn: Date | null;
}

/** Summarizes every organization. */
export function summarizeOrganizations(): Promise<Summary[]> {
  return select<Summary>(query, [], {
    columns: { sso: 'flag', ldap: 'flag', scimUsed: 'time', lastSignIn: 'time' },
  });
}
