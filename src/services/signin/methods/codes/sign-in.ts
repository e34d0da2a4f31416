import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { transaction } from '../../../../database/transaction.ts';
import { isProved } from '../../../people/accounts/view.ts';
import { answerSecondFactor } from '../../../people/two-factor/answer.ts';
import { beginSession } from '../../begin.ts';
import { answerCode } from './answer.ts';
import { proveAddress } from './prove.ts';
import type { signInByCodeInput } from './schema.ts';

/** Sign-in by a code that was mailed; it is spent when the sign-in completes, and not while a second factor is asked for. */
export async function signInByCode(ctx: Context, input: z.output<typeof signInByCodeInput>) {
  return answerCode(ctx, { ...input, purpose: 'signin' }, async ({ account: found, open }) => {
    // The second factor of somebody who never proved the address is not this person's (security P11).
    const own = isProved(found);
    const secondFactor = own ? await answerSecondFactor(ctx, found, input.totpCode) : null;
    return transaction(async () => {
      const account = await open();
      await proveAddress(ctx, account, 'another code');
      return beginSession(ctx, account, { method: 'magicCode', secondFactor });
    });
  });
}
