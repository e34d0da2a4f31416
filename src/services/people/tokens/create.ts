import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { newSecret } from '../../../crypto/secret.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { transaction } from '../../../database/transaction.ts';
import { refuseField } from '../../../errors.ts';
import { holdAccount } from '../accounts/hold.ts';
import { recordTokenEvent } from './event.ts';
import type { createOwnTokenInput, createTokenInput } from './schema.ts';
import { viewToken } from './view.ts';
import { voucherOf } from './vouched.ts';
import { requireHolder, requireSecondFactorFor } from './whose.ts';

type Input = z.output<typeof createOwnTokenInput> & Partial<z.output<typeof createTokenInput>>;

const dayMs = 24 * 3600 * 1000;
const mostAdminDays = 90;

/** Makes a personal access token (spec §2.7): one's own, or for the operator one of the account named. */
export async function createToken(ctx: Context, input: Input) {
  const accountId = await requireHolder(ctx, 'me.credentials', input.user);
  const { scope = 'write' } = input;
  await requireSecondFactorFor(ctx, scope);
  const { value, prefix, hash } = newSecret('cos_pat_');
  const expiresAt = endOf(ctx, scope, input.expiresInDays);
  const token = await transaction(async () => {
    await holdAccount(ctx, accountId);
    const made = await AccessToken.create({
      id: orderedId(),
      accountId,
      kind: 'pat',
      scope,
      name: input.name,
      description: input.description ?? null,
      prefix,
      hash,
      createdAt: ctx.now,
      expiresAt,
      vouchedBy: await voucherOf(ctx),
    });
    await recordTokenEvent(ctx, 'token.created', made, { scope });
    return made;
  });
  return { ...viewToken(token), token: value };
}

/** When the token ends, or null for never; a token of scope admin always ends (security P15). */
function endOf(ctx: Context, scope: Input['scope'], days = scope === 'admin' ? mostAdminDays : undefined) {
  if (days === undefined) return null;
  if (scope === 'admin' && days > mostAdminDays) {
    throw refuseField('expiresInDays', `must be at most ${mostAdminDays} for a token of scope admin`);
  }
  return new Date(ctx.now.getTime() + days * dayMs);
}
