import { z } from 'zod';
import { Refusal } from '../../../errors.ts';
import { email } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { renderLetter } from './letters.ts';

/** Sends a real mail now through the configured mail server. Returns the server's answer. */
export const testMail = operation({
  authority: 'operator',
  input: z.strictObject({ address: email }),
  output: z.object({ address: z.string(), server: z.string(), answer: z.string() }),
  run: async (ctx, { address }) => {
    const from = { service: ctx.config.instance.name, baseUrl: ctx.config.baseUrl };
    const letter = renderLetter(from, {
      subject: `Test mail of ${from.service}`,
      opening: `This is a test mail. ${from.service} can send mail to this address.`,
      closing: [
        'The operator of the server sent it to test the mail server. There is nothing to do.',
      ],
    });
    try {
      const answer = await ctx.outbound.sendMail({ to: address, ...letter });
      const server = new URL(ctx.config.mail.smtpUrl ?? '').host;
      return { address, server, answer };
    } catch (error) {
      throw error instanceof Refusal ? withAnswer(error) : error;
    }
  },
});

/** Adds the server's answer for the operator, because the answer names the problem best. */
function withAnswer(refusal: Refusal): Refusal {
  const { code, message, hint, failure, extra, cause } = refusal;
  if (failure === undefined || !('answer' in failure) || failure.answer === null) return refusal;
  const { answer } = failure;
  const answered = `${message} The server answered: ${answer}`;
  return new Refusal(code, answered, { extra: { ...extra, answer }, failure, cause, hint });
}
