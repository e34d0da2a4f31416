import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import type { CodePurpose } from '../../../../database/models/mail-code.ts';
import { transaction } from '../../../../database/transaction.ts';
import { countAsking } from '../../../foundation/limits/mail.ts';
import { requireMail } from '../../../foundation/mail/configured.ts';
import { queueAsked } from '../../../foundation/mail/queue.ts';
import type { requestCodeInput } from './schema.ts';

// No code here checks that the account exists. The daemon does when it writes the mail, so timing
// does not tell (security P7). A request over the limit of an address is dropped without an error.

type Input = z.output<typeof requestCodeInput>;

/** Mails a code to sign in with. */
export const requestMagicCode = (ctx: Context, input: Input) => request(ctx, input, 'signin');

/** Mails a code to choose a new password with. */
export const requestPasswordReset = (ctx: Context, input: Input) => request(ctx, input, 'reset');

/** Mails the code that confirms the address of a new account again. */
export const resendVerification = (ctx: Context, input: Input) => request(ctx, input, 'verify');

async function request(ctx: Context, { email }: Input, purpose: CodePurpose) {
  requireMail(ctx);
  await transaction(async () => {
    await countAsking(ctx);
    await queueAsked(ctx, { about: 'code', purpose, email });
  });
  return {};
}
