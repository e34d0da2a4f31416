import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireRightCode, spendStep } from './answer.ts';
import { discardTotp } from './discard.ts';
import type { disableTotpInput, ownDisableTotpInput } from './schema.ts';
import { requireOwnAccount } from './whose.ts';

type Input = z.output<typeof ownDisableTotpInput> & Partial<z.output<typeof disableTotpInput>>;

/** Turns two-factor authentication off by a current code, and discards the secret (spec §3.4). */
export async function disableTotp(ctx: Context, input: Input) {
  const account = await requireOwnAccount(ctx, input.user);
  const { id, totpSecret } = account;
  if (account.totpEnabledAt === null || totpSecret === null) {
    throw new Refusal('conflict', 'Two-factor authentication is not on.');
  }
  const step = await requireRightCode(ctx, { id, totpSecret }, input.code);
  await transaction(async () => {
    await spendStep(id, step);
    await discardTotp(id);
    await recordEvent(ctx, {
      kind: 'user.totp.disabled',
      subject: { type: 'user', id, name: account.name },
    });
  });
  return { twoFactorEnabled: false };
}
