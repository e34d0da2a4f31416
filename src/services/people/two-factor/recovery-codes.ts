import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account, hasSecondFactor } from '../../../database/models/account.ts';
import { RecoveryCode } from '../../../database/models/recovery-code.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { instant } from '../../foundation/fields.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { holdAccount } from '../accounts/account.ts';
import { ownOperation } from '../accounts/own-operation.ts';
import { makeRecoveryCodes } from '../codes/recovery-code.ts';
import { marksOf } from '../tokens/token.ts';
import { requireRecentSignIn } from './recent.ts';

// Recovery codes: second factors for a person who lost the device with the other one (security P17).

export const recoveryCodesView = z.object({
  remaining: z.int().describe('How many codes are unused.'),
  createdAt: instant.nullable().describe('When the codes were created; null if there are none.'),
});

/** The codes, which are shown only once. */
export const newRecoveryCodesView = z.object({
  codes: z.array(z.string()),
  createdAt: instant,
});

/** Shows how many recovery codes are left. */
export const showRecoveryCodes = ownOperation({
  authority: 'me.see',
  input: z.strictObject({}),
  output: recoveryCodesView,
  run: async (_ctx, _input, { accountId }) => {
    const codes = await RecoveryCode.findAll({ where: { accountId }, attributes: ['createdAt'] });
    return { remaining: codes.length, createdAt: codes[0]?.createdAt.toISOString() ?? null };
  },
});

/**
 * Creates ten new codes, and revokes the earlier ones. A person needs a recent sign-in. Refuses
 * with `conflict` if the account has no second factor, because no sign-in would ask for a code.
 */
export const regenerateRecoveryCodes = ownOperation({
  authority: 'me.credentials',
  input: z.strictObject({}),
  output: newRecoveryCodesView,
  run: (ctx, _input, { accountId }) =>
    transaction(async () => {
      await holdAccount(ctx, accountId);
      const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
      if (!hasSecondFactor(account)) {
        throw new Refusal('conflict', 'Recovery codes need a second factor, and there is none.', {
          hint: 'First set up an authenticator app or add a passkey. Recovery codes come with it.',
        });
      }
      if (ctx.actor.kind !== 'operator') await requireRecentSignIn(ctx, account);
      const codes = await makeRecoveryCodes(ctx, account, await marksOf(ctx));
      await notify(ctx, account, { what: 'recovery-codes-made' });
      return { codes, createdAt: ctx.now.toISOString() };
    }),
});

/** The field of a view that carries the codes, which are shown only once. */
export const firstRecoveryCodes = z
  .array(z.string())
  .optional()
  .describe('Ten recovery codes, shown only once. Absent if the account already had codes.');

/**
 * Creates recovery codes if the account does not have any. Call it where a second factor was added.
 */
export async function makeFirstRecoveryCodes(
  ctx: Context,
  accountId: string,
  marks: Parameters<typeof makeRecoveryCodes>[2],
): Promise<{ recoveryCodes?: string[] }> {
  const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
  if (account.hasRecoveryCodes) return {};
  return { recoveryCodes: await makeRecoveryCodes(ctx, account, marks) };
}
