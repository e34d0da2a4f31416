import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { transaction } from '../../../../database/transaction.ts';
import { isOwnSignUp } from '../../../people/codes/code.ts';
import { beginSession, requireSession } from '../../begin.ts';
import { answerCode, codeInvalid } from './answer.ts';
import { proveAddress } from './prove.ts';
import type { verifyEmailInput } from './schema.ts';

/**
 * Confirms the address of a new account by the mailed code, and signs in (spec §4.4 sign-up). The
 * password stays only if this client chose it (security P11); `passwordKept` says so.
 */
export async function verifyEmail(ctx: Context, input: z.output<typeof verifyEmailInput>) {
  return answerCode(ctx, { ...input, purpose: 'verify' }, async ({ account: found, open }) => {
    // Outside the transaction, as hashing takes time.
    const own = await isOwnSignUp(ctx, found, input);
    return transaction(async () => {
      const account = await open();
      // If the address was proved meanwhile, this code is no way to sign in.
      if (account.emailProof !== 'none') throw codeInvalid();
      const kept = own && account.passwordHash === found.passwordHash;
      await proveAddress(ctx, account, kept ? 'signup' : 'another code');
      const begun = await beginSession(ctx, account, {
        method: 'verification',
        secondFactor: null,
      });
      return { ...requireSession(begun), passwordKept: account.passwordHash !== null };
    });
  });
}
