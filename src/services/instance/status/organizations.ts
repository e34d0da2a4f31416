import { select } from '../../../database/select.ts';

// In one query, because an instance may have thousands.
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

/**
 * As the databases return it: SQLite counts in numbers and stores times as text, PostgreSQL the
 * other way round.
 */
interface Row {
  id: string;
  slug: string;
  name: string;
  members: number | string;
  owners: number | string;
  verified: number | string;
  pending: number | string;
  sso: boolean | number | null;
  ldap: boolean | number | null;
  scim: number | string;
  scimUsed: string | Date | null;
  lastSignIn: string | Date | null;
}

/** Every organization, with its counts. */
export async function countOrganizations() {
  const rows = await select<Row>(query, []);
  return rows.map((row) => ({
    slug: row.slug,
    name: row.name,
    members: Number(row.members),
    owners: Number(row.owners),
    domains: { verified: Number(row.verified), pending: Number(row.pending) },
    sso: connection(row.sso),
    ldap: connection(row.ldap),
    scim:
      Number(row.scim) === 0
        ? ('none' as const)
        : row.scimUsed === null
          ? ('unused' as const)
          : ('used' as const),
    lastSignInAt: row.lastSignIn === null ? null : new Date(row.lastSignIn).toISOString(),
  }));
}

function connection(enabled: boolean | number | null) {
  if (enabled === null) return 'none' as const;
  return enabled === true || enabled === 1 ? ('enabled' as const) : ('saved' as const);
}
