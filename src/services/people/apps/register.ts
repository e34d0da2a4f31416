import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { newSecret, randomToken } from '../../../crypto/secret.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { transaction } from '../../../database/transaction.ts';
import { holdAccount } from '../accounts/hold.ts';
import { voucherOf } from '../tokens/vouched.ts';
import { requireHolder } from '../tokens/whose.ts';
import { recordAppEvent } from './event.ts';
import { recordNamed, requireAdministered } from './organization.ts';
import type { registerAppInput, registerOwnAppInput } from './schema.ts';
import { viewApp } from './view.ts';

type Input = z.output<typeof registerOwnAppInput> & Partial<z.output<typeof registerAppInput>>;

/**
 * Registers an app that acts as its owner (spec §2.8): one's own, or for the operator one of the account named. It asks
 * about the tokens of the organization named, if any (security O9).
 */
export async function registerApp(ctx: Context, input: Input) {
  const accountId = await requireHolder(ctx, 'me.credentials', input.user);
  const organization =
    input.organization === undefined ? null : await requireAdministered(ctx, accountId, input.organization);
  const { value, hash } = newSecret('cos_secret_');
  const app = await transaction(async () => {
    await holdAccount(ctx, accountId);
    const made = await OAuthApp.create({
      id: orderedId(),
      accountId,
      organizationId: organization?.id ?? null,
      name: input.name,
      clientId: `app-${randomToken(128)}`,
      secretHash: hash,
      vouchedBy: await voucherOf(ctx),
      createdAt: ctx.now,
    });
    await recordAppEvent(ctx, { kind: 'app.registered' }, made);
    if (organization !== null) await recordNamed(ctx, made, organization);
    return made;
  });
  return { ...viewApp(app, organization), clientSecret: value };
}
