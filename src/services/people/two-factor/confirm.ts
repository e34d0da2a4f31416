import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { after } from '../../foundation/time.ts';
import { endSessionsPastSecondFactor } from '../sessions/end.ts';
import { ownSessionOf } from '../sessions/own.ts';
import { requireRightCode } from './answer.ts';
import { alreadyEnabled } from './refusals.ts';
import type { confirmTotpInput, ownConfirmTotpInput } from './schema.ts';
import { requireOwnAccount } from './whose.ts';

const pendingSeconds = 15 * 60;

type Input = z.output<typeof ownConfirmTotpInput> & Partial<z.output<typeof confirmTotpInput>>;

/** Turns two-factor authentication on by a code of the pending secret (spec §3.4). */
export async function confirmTotp(ctx: Context, input: Input) {
  const account = await requireOwnAccount(ctx, input.user);
  const { totpSecret, totpStartedAt, totpEnabledAt } = account;
  if (totpEnabledAt !== null) throw alreadyEnabled();
  if (totpSecret === null || totpStartedAt === null || after(totpStartedAt, pendingSeconds) < ctx.now) {
    throw new Refusal('conflict', 'There is no enrolment to confirm, or it began more than 15 minutes ago.', {
      hint: 'Start again: idctl totp enroll, or POST /api/v1/me/totp.',
    });
  }
  const step = await requireRightCode(ctx, { id: account.id, totpSecret }, input.code);
  await transaction(async () => {
    const enabled = { totpEnabledAt: ctx.now, totpLastStep: step };
    const [changed] = await Account.update(enabled, {
      where: { id: account.id, totpSecret, totpEnabledAt: null },
    });
    if (changed === 0)
      throw new Refusal('conflict', 'The enrolment was changed meanwhile.', { hint: 'Start again.' });
    await endSessionsPastSecondFactor(ctx, account.id, ownSessionOf(ctx.actor));
    await recordEvent(ctx, {
      kind: 'user.totp.enabled',
      subject: { type: 'user', id: account.id, name: account.name },
    });
  });
  return { twoFactorEnabled: true };
}
