import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';

/** A connection whose groups feed the mappings. */
export interface GroupSource {
  kind: 'sso' | 'ldap';
  id: string;
  organizationId: string;
  /** If false, the last known claim gives no new role, and roles that it gave stay. */
  enabled: boolean;
  /** Whether a role ends when the person leaves its group. Always false for directories. */
  autoRemove: boolean;
  /** Whether every sign-in applies the groups. If not, only the first; for a directory, none. */
  everyTime: boolean;
  /** The search base of a directory; null if the groups come from a claim. */
  searchBase: string | null;
}

/** A single sign-on connection as a source of groups. */
export function ssoSource(connection: SsoConnection): GroupSource {
  const { id, organizationId, enabled, autoRemove, syncOnLogin: everyTime } = connection;
  return { kind: 'sso', id, organizationId, enabled, autoRemove, everyTime, searchBase: null };
}

/** A directory as a source of groups. */
export function ldapSource(connection: LdapConnection): GroupSource {
  const { id, organizationId, enabled, searchBase } = connection;
  const everyTime = connection.groupsAttribute !== null;
  return { kind: 'ldap', id, organizationId, enabled, autoRemove: false, everyTime, searchBase };
}

/** The organization's connections as sources of groups, single sign-on first. */
export async function findSources(organizationId: string): Promise<GroupSource[]> {
  const sso = await SsoConnection.findOne({ where: { organizationId } });
  const ldap = await LdapConnection.findOne({ where: { organizationId } });
  return [...(sso === null ? [] : [ssoSource(sso)]), ...(ldap === null ? [] : [ldapSource(ldap)])];
}
