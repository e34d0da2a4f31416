import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { SealedPlace } from '../../../crypto/seal.ts';
import { hold } from '../../../database/hold.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { isLoopback } from '../../../text/address.ts';
import { viewOf } from '../../foundation/fields.ts';
import { approvalView, type Pointing, viewApproval } from '../connections/approval.ts';
import { affectedView } from '../sso/affected.ts';

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
export const ldapView = directorySettings.extend({
  hasBindPassword: z.boolean(),
  enabled: z.boolean(),
  ...approvalView.shape,
});

/** The settings that decide which directory the connection trusts, and for whom (security I8). */
const pointing = [
  'uri',
  'tls',
  'caCertificate',
  'bindDn',
  'searchBase',
  'searchFilter',
  'emailAttribute',
] as const;
export const ldapDisabledView = ldapView.extend(affectedView.shape);
export const ldapRemovedView = ldapDisabledView.extend({ sessionsEnded: z.int() });

/** The people whose LDAP keys `relinkLdap` deleted; their next sign-in links them again. */
export const ldapRelinkedView = z.object({
  uri: z.string(),
  people: z.array(z.string()),
  sessionsEnded: z.int(),
});

/** A connection without its password. */
export function viewLdap(connection: LdapConnection) {
  return {
    ...directorySettingsOf(connection),
    hasBindPassword: true,
    enabled: connection.enabled,
    ...viewApproval(connection, whereLdapPoints(connection)),
  };
}

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

/** The organization's connection; refuses `not_found`. */
export async function requireDirectory(organization: Organization): Promise<LdapConnection> {
  const where = { organizationId: organization.id };
  return (await LdapConnection.findOne({ where })) ?? refuseMissing(organization);
}

/** Like `requireDirectory`, and holds the connection. Sign-ins through it go on. */
export async function holdDirectory(organization: Organization): Promise<LdapConnection> {
  const where = { organizationId: organization.id };
  return (await hold.ldap(where, 'alone')) ?? refuseMissing(organization);
}

function refuseMissing({ slug }: Organization): never {
  throw new Refusal('not_found', `${slug} has no LDAP connection.`, {
    hint: { say: 'Make one', operation: 'ldap.create', with: { org: slug } },
  });
}

const placeOf = (connectionId: string): SealedPlace => ({
  table: 'ldap_connections',
  column: 'bind_password',
  row: connectionId,
});

/** Seals the bind password for storage, bound to its connection. */
export function sealBindPassword(ctx: Context, connectionId: string, password: string): string {
  return ctx.keyring.seal(password, placeOf(connectionId));
}

/** Opens the bind password. Send it only to the directory. */
export function openBindPassword(ctx: Context, connection: LdapConnection): string {
  return ctx.keyring.open(connection.bindPassword, placeOf(connection.id));
}

const bound = ['uri', 'bindDn', 'tls', 'caCertificate'] as const;

/**
 * Refuses `secret_required` if the stored password was entered for another server, CA certificate,
 * bind DN or TLS mode: an admin must not choose who gets it (security S10).
 */
export function requireSameServer(
  stored: Pick<LdapConnection, (typeof bound)[number]>,
  given: Pick<LdapConnection, (typeof bound)[number]>,
): void {
  if (bound.every((setting) => stored[setting] === given[setting])) return;
  throw new Refusal(
    'secret_required',
    'A changed server, CA certificate, bind DN or TLS mode needs the bind password again.',
    {
      hint: 'Enter the password again. idctl sends the stored one only to the server it was entered for.',
    },
  );
}

/**
 * Refuses `tls: false` with `ldaps://`, and with a remote server unless `ldap.allowPlaintext` is on
 * (security L5).
 */
export function requireEncryption(ctx: Context, { uri, tls }: { uri: string; tls: boolean }): void {
  if (tls) return;
  if (uri.startsWith('ldaps:')) {
    const hint = 'Leave it on, or use an ldap:// address.';
    throw refuseField('tls', 'is always on with ldaps://', hint);
  }
  if (ctx.config.ldap.allowPlaintext === 'on' || isLoopback(new URL(uri).hostname)) return;
  throw refuseField('tls', 'can be off only for a directory on this machine', {
    technical:
      'Use ldaps:// or StartTLS. Or ask the operator to set ldap.allowPlaintext: on in idctl.yaml.',
  });
}

/** The connection as the subject of an event. */
export function aboutLdap({ id, organizationId, uri }: LdapConnection) {
  return { organizationId, subject: { type: 'ldap', id, name: uri } };
}
