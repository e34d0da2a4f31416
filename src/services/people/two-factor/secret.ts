import type { Context } from '../../../context.ts';
import type { SealedPlace } from '../../../crypto/seal.ts';

const placeOf = (accountId: string): SealedPlace => ({
  table: 'accounts',
  column: 'totp_secret',
  row: accountId,
});

/** Seals the TOTP secret for storage, bound to its account (security P12). */
export function sealTotpSecret(ctx: Context, accountId: string, secret: string): string {
  return ctx.keyring.seal(secret, placeOf(accountId));
}

/** Opens the TOTP secret, to check a code with. */
export function openTotpSecret(ctx: Context, accountId: string, sealed: string): string {
  return ctx.keyring.open(sealed, placeOf(accountId));
}
