import { z } from 'zod';
import type { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { affectedView } from '../sso/affected.ts';
import { directorySettingsOf } from './settings.ts';

export const ldapView = z.object({
  uri: z.string(),
  tls: z.boolean(),
  caCertificate: z.string().nullable(),
  bindDn: z.string(),
  hasBindPassword: z.boolean(),
  searchBase: z.string(),
  searchFilter: z.string(),
  emailAttribute: z.string(),
  givenNameAttribute: z.string(),
  familyNameAttribute: z.string(),
  groupsAttribute: z.string().nullable(),
  enabled: z.boolean(),
});
export const ldapDisabledView = ldapView.extend(affectedView.shape);

/** The people that a change of directory affects; they are linked again when they next sign in. */
export const ldapRelinkedView = z.object({
  uri: z.string(),
  people: z.array(z.string()),
  sessionsEnded: z.int(),
});

/** A connection without its password. */
export function viewLdap(connection: LdapConnection) {
  return { ...directorySettingsOf(connection), hasBindPassword: true, enabled: connection.enabled };
}
