import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { orderedId } from '../../crypto/id.ts';
import { newSecret } from '../../crypto/secret.ts';
import { AccessToken } from '../../database/models/access-token.ts';
import { transaction } from '../../database/transaction.ts';
import { holdAccount } from '../accounts/hold.ts';
import { recordTokenEvent } from './event.ts';
import type { createOwnTokenInput, createTokenInput } from './schema.ts';
import { viewToken } from './view.ts';
import { requireHolder } from './whose.ts';

type Input = z.output<typeof createOwnTokenInput> & Partial<z.output<typeof createTokenInput>>;

const dayMs = 24 * 3600 * 1000;

/** Makes a personal access token (spec §2.7): one's own, or for the operator one of the account named. */
export async function createToken(ctx: Context, input: Input) {
  const accountId = await requireHolder(ctx, 'me.credentials', input.user);
  const { value, prefix, hash } = newSecret('cos_pat_');
  const lifetime = input.expiresInDays;
  const token = await transaction(async () => {
    await holdAccount(ctx, accountId);
    const made = await AccessToken.create({
      id: orderedId(),
      accountId,
      kind: 'pat',
      name: input.name,
      description: input.description ?? null,
      prefix,
      hash,
      createdAt: ctx.now,
      expiresAt: lifetime === undefined ? null : new Date(ctx.now.getTime() + lifetime * dayMs),
    });
    await recordTokenEvent(ctx, 'token.created', made);
    return made;
  });
  return { ...viewToken(token), token: value };
}
