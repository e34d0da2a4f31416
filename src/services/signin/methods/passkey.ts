import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { lockAccount } from '../../people/accounts/account.ts';
import { assertionInput } from '../../people/passkeys/assertion.ts';
import { browserCookie } from '../../people/passkeys/challenge.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { type Begun, beginSession } from '../begin.ts';

export const signInByPasskeyInput = z.strictObject({
  credential: assertionInput,
  browser: browserCookie,
});

/**
 * Begins the session of a passkey that has verified the person, so that it counts as both factors.
 * Call it inside the sign-in's transaction.
 */
export async function enterByPasskey(
  ctx: Context,
  account: Account,
  passkeyId: string,
): Promise<Begun> {
  // Locked first: the passkey may have been removed, or left as a second factor only.
  await lockAccount(account.id);
  const passkey = await Passkey.findOne({ where: { id: passkeyId, accountId: account.id } });
  if (passkey === null || passkey.signsIn === false || passkey.suspendedAt !== null)
    throw signInFailed('changed_meanwhile');
  if (passkey.signsIn === null) await passkey.update({ signsIn: true });
  const { unapproved } = passkey;
  const secondFactor = { accountId: account.id, passkeyId };
  return beginSession(ctx, account, { method: 'passkey', secondFactor, unapproved });
}
