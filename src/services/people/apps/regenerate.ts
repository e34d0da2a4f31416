import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { newSecret } from '../../../crypto/secret.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { lockAccount } from '../accounts/lock.ts';
import { voucherOf } from '../tokens/vouched.ts';
import { recordAppEvent } from './event.ts';
import { requireApp } from './find.ts';
import type { appInput, ownAppInput } from './schema.ts';
import { viewApp } from './view.ts';

type Input = z.output<typeof ownAppInput> & Partial<z.output<typeof appInput>>;

/**
 * Gives an app a new secret. The old one stops at once, with the tokens that the app has (security P14); a suspension
 * ends, the client id stays. Of several at the same moment one succeeds, so that every secret answered is one that works.
 */
export async function regenerateApp(ctx: Context, input: Input) {
  const app = await requireApp(ctx, input);
  const { value, hash } = newSecret('cos_secret_');
  await transaction(async () => {
    // Minting holds the account too, so that the old secret gets no token meanwhile.
    await lockAccount(app.accountId);
    const renewed = { secretHash: hash, suspendedAt: null, vouchedBy: await voucherOf(ctx) };
    const [changed] = await OAuthApp.update(renewed, { where: { id: app.id, secretHash: app.secretHash } });
    if (changed === 0) throw changedMeanwhile();
    await AccessToken.destroy({ where: { appId: app.id } });
    await recordAppEvent(ctx, { kind: 'app.regenerated' }, app);
  });
  return { ...viewApp(app.set({ suspendedAt: null })), clientSecret: value };
}

function changedMeanwhile(): Refusal {
  return new Refusal('conflict', 'This app was regenerated or revoked at the same moment.', {
    hint: 'List the apps and try again.',
  });
}
