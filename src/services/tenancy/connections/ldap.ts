import { z } from 'zod';
import { connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { SealedColumn } from '../../../crypto/seal.ts';
import type { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { viewOf } from '../../foundation/fields.ts';
import type { Pointing } from './approval.ts';
import type { GroupRules } from './groups.ts';

// The stored connection to a directory: its settings and its password, and how to read them.

const { ldap } = connectionKinds;

/** The settings of a connection, except its password and whether it is enabled. */
export const directorySettings = z.object({
  uri: z.string(),
  tls: z.boolean(),
  caCertificate: z.string().nullable(),
  bindDn: z.string(),
  searchBase: z.string(),
  searchFilter: z.string(),
  emailAttribute: z.string(),
  givenNameAttribute: z.string(),
  familyNameAttribute: z.string(),
  groupsAttribute: z.string().nullable(),
});

/** The settings that decide which directory the connection trusts, and for which people (security I8). */
const pointing = [
  'uri',
  'tls',
  'caCertificate',
  'bindDn',
  'searchBase',
  'searchFilter',
  'emailAttribute',
] as const;

/** Where the connection points (security I8). */
export function whereLdapPoints(
  connection: Pick<LdapConnection, (typeof pointing)[number]>,
): Pointing {
  return Object.fromEntries(pointing.map((name) => [name, connection[name]]));
}

/** The settings of a connection, except its password and whether it is enabled. */
export function directorySettingsOf(connection: LdapConnection) {
  return viewOf(directorySettings, connection);
}

/** How the groups of its entries count. Without an attribute for groups, there are none. */
export function ldapGroups({
  enabled,
  groupsAttribute,
  searchBase,
}: Pick<LdapConnection, 'enabled' | 'groupsAttribute' | 'searchBase'>): GroupRules {
  const everyTime = groupsAttribute !== null;
  return { gives: enabled && everyTime, autoRemove: false, everyTime, searchBase };
}

const columnOf = (connectionId: string): SealedColumn => ({
  table: 'ldap_connections',
  column: 'bind_password',
  row: connectionId,
});

/** Seals the bind password for storage, bound to its connection. */
export function sealBindPassword(ctx: Context, connectionId: string, password: string): string {
  return ctx.keyring.seal(password, columnOf(connectionId));
}

/** Opens the bind password. Send it only to the directory. */
export function openBindPassword(ctx: Context, connection: LdapConnection): string {
  return ctx.keyring.open(connection.bindPassword, columnOf(connection.id));
}

/** The connection as the subject of an event. */
export function aboutLdap({
  id,
  organizationId,
  uri,
}: Pick<LdapConnection, 'id' | 'organizationId' | 'uri'>) {
  return { organizationId, subject: { type: ldap.name, id, name: uri } };
}
