import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import type { CodePurpose } from '../../../../database/models/mail-code.ts';
import { transaction } from '../../../../database/transaction.ts';
import { countAsking } from '../../../foundation/limits/mail.ts';
import { requireMail } from '../../../foundation/mail/configured.ts';
import { queueAsked } from '../../../foundation/mail/queue.ts';
import type { requestCodeInput } from './schema.ts';

// Nobody here looks whether there is such an account: the daemon does when it writes the mail, and nobody sees how
// long that takes (security P7). What is over the limit of an address is quietly not sent.

type Input = z.output<typeof requestCodeInput>;

/** Mails a code to sign in with. */
export const requestMagicCode = (ctx: Context, input: Input) => request(ctx, input, 'signin');

/** Mails a code to choose a new password with. */
export const requestPasswordReset = (ctx: Context, input: Input) => request(ctx, input, 'reset');

/** Mails once more what confirms the address of a new account. */
export const resendVerification = (ctx: Context, input: Input) => request(ctx, input, 'verify');

async function request(ctx: Context, { email }: Input, purpose: CodePurpose) {
  requireMail(ctx);
  await transaction(async () => {
    await countAsking(ctx);
    await queueAsked(ctx, { about: 'code', purpose, email });
  });
  return {};
}
