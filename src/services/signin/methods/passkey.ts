import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import type { Account } from '../../../database/models/account.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { spend } from '../../foundation/limits/limit.ts';
import { clientLimit } from '../../foundation/limits/password.ts';
import { assertionInput, checkAssertion } from '../../people/passkeys/assertion.ts';
import { browserCookie } from '../../people/passkeys/challenge.ts';
import { requireAddressForPasskeys } from '../../people/passkeys/relying-party.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { type Begun, beginSession } from '../begin.ts';
import { method } from '../method.ts';
import { isWrongGuess, recordIfRefused } from '../refused.ts';

export const signInByPasskeyInput = z.strictObject({
  credential: assertionInput,
  browser: browserCookie,
});

interface ByPasskey {
  input: z.output<typeof signInByPasskeyInput>;
  at: null;
  seen: Awaited<ReturnType<typeof checkAssertion>>;
  proof: { account: Account; passkeyId: string };
}

/** The sign-in with a passkey, which counts as both factors (security P7, P16). */
export const byPasskey = method<ByPasskey>({
  name: 'passkey',
  offered: async (ctx, _, signIn) => {
    requireAddressForPasskeys(ctx);
    return signIn(null);
  },
  limits: {
    of: (ctx) => [clientLimit(ctx)],
    count: spend,
    givesBack: 'firstInTransaction',
    wrong: isWrongGuess,
  },
  look: (ctx, { input: { credential, browser } }) =>
    checkAssertion(ctx, credential, { purpose: 'signIn', accountId: null }, browser),
  prove: async (_, { seen }) => {
    if ('refused' in seen) throw signInFailed(seen.refused);
    return { proof: seen };
  },
  secondFactor: { inTwoSteps: 'never' },
  enter: (ctx, { account, passkeyId }) => enterByPasskey(ctx, account, passkeyId),
  events: {
    refused: (ctx, { seen: { account } }, error) =>
      recordIfRefused(ctx, error, { method: 'passkey', account }),
  },
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
  // The passkey may have been removed, or left as a second factor only.
  await hold.account(account.id);
  const passkey = await Passkey.findOne({ where: { id: passkeyId, accountId: account.id } });
  if (passkey === null || passkey.signsIn === false || passkey.suspendedAt !== null)
    throw signInFailed('changed_meanwhile');
  if (passkey.signsIn === null) await passkey.update({ signsIn: true });
  const { unapproved } = passkey;
  const secondFactor = { accountId: account.id, passkeyId };
  return beginSession(ctx, account, { method: 'passkey', secondFactor, unapproved });
}
