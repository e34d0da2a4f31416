import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/transaction.ts';
import { isOnlySignUp } from '../limits/sign-ups.ts';
import { beginSession } from '../sessions/begin.ts';
import { answerCode, codeInvalid } from './answer.ts';
import { proveAddress } from './prove.ts';
import type { verifyEmailInput } from './schema.ts';
import { isOwnSignUp } from './ticket.ts';

/**
 * Confirms the address of a new account by the code that was mailed to it, and signs in (spec §4.4 sign-up). The password
 * stays if it was chosen by whoever confirms (security P11); `passwordKept` says so.
 */
export async function verifyEmail(ctx: Context, input: z.output<typeof verifyEmailInput>) {
  return answerCode(ctx, { ...input, purpose: 'verify' }, ({ open }) =>
    transaction(async () => {
      const account = await open();
      // Proved meanwhile: this code is no way to sign in.
      if (account.emailProof !== 'none') throw codeInvalid();
      const only = await isOnlySignUp(ctx, account);
      const own = isOwnSignUp(ctx, account, { ticket: input.ticket, only });
      await proveAddress(ctx, account, own ? 'signup' : 'another code');
      const session = await beginSession(ctx, account, { method: 'verification', secondFactor: null });
      return { ...session, passwordKept: account.passwordHash !== null };
    }),
  );
}
