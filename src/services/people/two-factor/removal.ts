import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import type { Passkey } from '../../../database/models/passkey.ts';
import { counted } from '../../../text/words.ts';
import { discardTotp } from '../accounts/account.ts';
import { deleteRecoveryCodes } from '../codes/recovery-code.ts';
import { removePasskeys } from '../passkeys/passkey.ts';
import { forgetSecondFactor } from '../sessions/end.ts';

// The removal of the second factor of a person who lost it.

/** What a removal took from the account. */
interface Removed {
  authenticatorRemoved: boolean;
  passkeysRemoved: number;
}

/**
 * Removes the authenticator app, also one that is not confirmed yet, the recovery codes and these
 * passkeys. The caller notifies the person. Call it inside a transaction, with the account locked.
 */
export async function removeFactors(
  ctx: Context,
  account: Account,
  passkeys: Passkey[],
): Promise<Removed> {
  const { id, totpSecret } = account;
  await discardTotp(id);
  await deleteRecoveryCodes(id);
  await forgetSecondFactor(id, null);
  await removePasskeys(ctx, account, passkeys, { inReset: true });
  return { authenticatorRemoved: totpSecret !== null, passkeysRemoved: passkeys.length };
}

/** The removed factors in words: `the authenticator app and 2 passkeys`. */
export function factorsGone({ authenticatorRemoved, passkeysRemoved: count }: Removed): string {
  const passkeys = count === 0 ? [] : [counted(count, 'passkey')];
  return [...(authenticatorRemoved ? ['the authenticator app'] : []), ...passkeys].join(' and ');
}
