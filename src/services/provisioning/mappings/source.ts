import { type ConnectionKindName, connectionKinds } from '../../../connection-kinds.ts';
import type { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import type { GroupRules } from '../../tenancy/connections/groups.ts';
import { type Connection, findConnections } from '../../tenancy/connections/kinds.ts';
import { ldapGroups } from '../../tenancy/connections/ldap.ts';
import { ssoGroups } from '../../tenancy/connections/sso.ts';

/** A connection whose groups feed the mappings. */
export interface GroupSource extends GroupRules {
  kind: ConnectionKindName;
  id: string;
  organizationId: string;
}

/** The kind that a role counts for if its connection is gone or unknown. */
export const assumedKind = connectionKinds.sso.name;

function sourceOf({ kind, row, groups }: Omit<Connection, 'points'>): GroupSource {
  return { kind, id: row.id, organizationId: row.organizationId, ...groups };
}

/** A single sign-on connection as a source of groups. */
export function ssoSource(row: SsoConnection): GroupSource {
  return sourceOf({ kind: connectionKinds.sso.name, row, groups: ssoGroups(row) });
}

/** A directory as a source of groups. */
export function ldapSource(row: LdapConnection): GroupSource {
  return sourceOf({ kind: connectionKinds.ldap.name, row, groups: ldapGroups(row) });
}

/** The organization's connections as sources of groups, in the order of their kinds. */
export async function findSources(organizationId: string): Promise<GroupSource[]> {
  return (await findConnections({ organizationId })).map(sourceOf);
}
