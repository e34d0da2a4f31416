import type { Context } from '../../../context.ts';
import type { SealedPlace } from '../../../crypto/seal.ts';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import { Refusal } from '../../../errors.ts';

const placeOf = (connectionId: string): SealedPlace => ({
  table: 'sso_connections',
  column: 'client_secret',
  row: connectionId,
});

/** Seals the client secret for storage, bound to its connection. */
export function sealClientSecret(ctx: Context, connectionId: string, secret: string): string {
  return ctx.keyring.seal(secret, placeOf(connectionId));
}

/** Opens the client secret, for the provider's token endpoint alone. */
export function openClientSecret(ctx: Context, connection: SsoConnection): string {
  return ctx.keyring.open(connection.clientSecret, placeOf(connection.id));
}

/**
 * Refuses `secret_required` if the stored secret was entered for another issuer or client
 * (security S10).
 */
export function requireSameClient(
  stored: SsoConnection,
  { issuer, clientId }: { issuer: string; clientId: string },
): void {
  if (stored.issuer === issuer && stored.clientId === clientId) return;
  throw new Refusal(
    'secret_required',
    'A changed issuer or client id needs the client secret again.',
    {
      hint: 'The stored secret goes only to the provider it was entered for; give it again.',
    },
  );
}
