import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { groupsHeld } from './directory-groups.ts';
import { type Plan, planMemberships } from './plan.ts';
import { readCurrent, readMappings } from './read.ts';

/** A connection whose groups feed the mappings. */
export interface GroupSource {
  kind: 'sso' | 'ldap';
  id: string;
  organizationId: string;
  /** Directories remove nothing. */
  autoRemove: boolean;
  /** Where a directory looks for people; null where groups are what a claim says. */
  searchBase: string | null;
}

/** A single sign-on connection as a source of groups. */
export function ssoSource({ id, organizationId, autoRemove }: SsoConnection): GroupSource {
  return { kind: 'sso', id, organizationId, autoRemove, searchBase: null };
}

/** A directory as a source of groups. */
export function ldapSource({ id, organizationId, searchBase }: LdapConnection): GroupSource {
  return { kind: 'ldap', id, organizationId, autoRemove: false, searchBase };
}

/** The connections of an organization that groups come through, single sign-on first. */
export async function findSources(organizationId: string): Promise<GroupSource[]> {
  const sso = await SsoConnection.findOne({ where: { organizationId } });
  const ldap = await LdapConnection.findOne({ where: { organizationId } });
  return [...(sso === null ? [] : [ssoSource(sso)]), ...(ldap === null ? [] : [ldapSource(ldap)])];
}

/** What the groups that a connection said call for: read here for the sign-in and for the preview alike. */
export async function readPlan(
  source: GroupSource,
  accountId: string | null,
  said: readonly string[],
): Promise<Plan> {
  const mappings = await readMappings(source.organizationId);
  const held =
    source.searchBase === null
      ? said
      : groupsHeld(
          mappings.map(({ group }) => group),
          said,
          source.searchBase,
        );
  const current = accountId === null ? [] : await readCurrent(source, accountId);
  return planMemberships(held, mappings, current, source);
}
