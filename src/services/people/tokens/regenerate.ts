import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { newSecret } from '../../../crypto/secret.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { lockAccount } from '../accounts/lock.ts';
import { recordTokenEvent } from './event.ts';
import { requireToken } from './find.ts';
import type { ownTokenInput, tokenInput } from './schema.ts';
import { viewToken } from './view.ts';
import { voucherOf } from './vouched.ts';
import { requireSecondFactorFor } from './whose.ts';

type Input = z.output<typeof ownTokenInput> & Partial<z.output<typeof tokenInput>>;

/**
 * Gives a token a new value (spec §3.5); the old one stops at once, a suspension ends, all else stays. Of several at
 * the same moment one succeeds, so that every value answered is one that works.
 */
export async function regenerateToken(ctx: Context, input: Input) {
  const token = await requireToken(ctx, input);
  await requireSecondFactorFor(ctx, token.scope);
  requireRenewable(ctx, token);
  const { value, prefix, hash } = newSecret('cos_pat_');
  await transaction(async () => {
    // So that no joining misses the new value.
    await lockAccount(token.accountId);
    const vouchedBy = await voucherOf(ctx);
    const [changed] = await AccessToken.update(
      { prefix, hash, suspendedAt: null, vouchedBy },
      { where: { id: token.id, hash: token.hash } },
    );
    if (changed === 0) throw changedMeanwhile();
    await recordTokenEvent(ctx, 'token.regenerated', token);
  });
  return { ...viewToken(token.set({ prefix, suspendedAt: null })), token: value };
}

function requireRenewable(ctx: Context, { kind, expiresAt }: AccessToken): void {
  if (kind === 'bot') {
    throw new Refusal('conflict', 'This token belongs to an app.', {
      hint: 'The app can ask for a new one.',
    });
  }
  if (expiresAt !== null && expiresAt <= ctx.now) {
    throw new Refusal('conflict', 'This token has expired, and a new value would expire with it.', {
      hint: 'Revoke it and create another.',
    });
  }
}

function changedMeanwhile(): Refusal {
  return new Refusal('conflict', 'This token was regenerated or revoked at the same moment.', {
    hint: 'List the tokens and try again.',
  });
}
