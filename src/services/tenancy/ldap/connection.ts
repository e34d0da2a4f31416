import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { isLoopback } from '../../../text/address.ts';
import { approvalView, viewApproval } from '../connections/approval.ts';
import { directorySettings, directorySettingsOf, whereLdapPoints } from '../connections/ldap.ts';
import { affectedView } from '../sso/affected.ts';

export const ldapView = directorySettings.extend({
  hasBindPassword: z.boolean(),
  enabled: z.boolean(),
  ...approvalView.shape,
});

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

/** The organization's connection; refuses with `not_found`. */
export async function requireDirectory(organization: Organization): Promise<LdapConnection> {
  const where = { organizationId: organization.id };
  return (await LdapConnection.findOne({ where })) ?? refuseMissing(organization);
}

/**
 * Like `requireDirectory`, and locks the connection against other changes. Sign-ins through it
 * continue.
 */
export async function holdDirectory(organization: Organization): Promise<LdapConnection> {
  const where = { organizationId: organization.id };
  return (await hold.ldap(where, 'alone')) ?? refuseMissing(organization);
}

function refuseMissing({ slug }: Organization): never {
  throw new Refusal('not_found', `${slug} has no LDAP connection.`, {
    hint: { say: 'Create one', operation: 'ldap.create', with: { org: slug } },
  });
}

const bound = ['uri', 'bindDn', 'tls', 'caCertificate'] as const;

/**
 * Refuses with `secret_required` if the stored password was entered for another server, CA
 * certificate, bind DN or TLS mode: an admin must not choose who gets it (security S10).
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
