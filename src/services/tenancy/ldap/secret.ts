import type { Context } from '../../../context.ts';
import type { SealedPlace } from '../../../crypto/seal.ts';
import type { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { Refusal } from '../../../errors.ts';

const placeOf = (connectionId: string): SealedPlace => ({
  table: 'ldap_connections',
  column: 'bind_password',
  row: connectionId,
});

/** Seals the bind password for storage, bound to its connection. */
export function sealBindPassword(ctx: Context, connectionId: string, password: string): string {
  return ctx.keyring.seal(password, placeOf(connectionId));
}

/** Opens the bind password, for the directory alone. */
export function openBindPassword(ctx: Context, connection: LdapConnection): string {
  return ctx.keyring.open(connection.bindPassword, placeOf(connection.id));
}

const bound = ['uri', 'bindDn', 'tls', 'caCertificate'] as const;

/**
 * Refuses `secret_required` if the stored password was entered for another server, CA certificate,
 * bind DN or TLS mode. An admin who could change what is trusted could otherwise choose who gets
 * the password (security S10).
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
