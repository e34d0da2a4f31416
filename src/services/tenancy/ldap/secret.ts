import type { Context } from '../../../context.ts';
import type { SealedPlace } from '../../../crypto/seal.ts';
import type { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { Refusal } from '../../../errors.ts';

const placeOf = (connectionId: string): SealedPlace => ({
  table: 'ldap_connections',
  column: 'bind_password',
  row: connectionId,
});

/** The bind password as it is stored, bound to its connection. */
export function sealBindPassword(ctx: Context, connectionId: string, password: string): string {
  return ctx.keyring.seal(password, placeOf(connectionId));
}

/** The bind password in clear, for the directory alone. */
export function openBindPassword(ctx: Context, connection: LdapConnection): string {
  return ctx.keyring.open(connection.bindPassword, placeOf(connection.id));
}

const bound = ['uri', 'bindDn', 'tls', 'caCertificate'] as const;

/**
 * Refuses `secret_required` when the stored password was entered for another server, account or TLS mode, or for one
 * that another authority vouches for: whoever says what is trusted says who is sent the password (security S10).
 */
export function requireSameServer(
  stored: LdapConnection,
  given: Pick<LdapConnection, (typeof bound)[number]>,
): void {
  if (bound.every((setting) => stored[setting] === given[setting])) return;
  throw new Refusal(
    'secret_required',
    'A changed server, CA certificate, bind DN or TLS mode needs the bind password again.',
    { hint: 'The stored password goes only to the server it was entered for; give it again.' },
  );
}
