import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/transaction.ts';
import { beginSession } from '../sessions/begin.ts';
import { answerCode, codeInvalid } from './answer.ts';
import { proveAddress } from './prove.ts';
import type { verifyEmailInput } from './schema.ts';

/** Confirms the address of a new account by the code that was mailed to it, and signs in (spec §4.4 sign-up). */
export async function verifyEmail(ctx: Context, input: z.output<typeof verifyEmailInput>) {
  return answerCode(ctx, { ...input, purpose: 'verify' }, ({ open }) =>
    transaction(async () => {
      const account = await open();
      // Proved meanwhile: this code is no way to sign in.
      if (account.emailProof !== 'none') throw codeInvalid();
      await proveAddress(ctx, account, 'signup');
      return beginSession(ctx, account, { method: 'verification', secondFactor: null });
    }),
  );
}
