import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hashOfSecret } from '../../../crypto/secret.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { transaction } from '../../../database/transaction.ts';
import { recordTokenEvent } from '../tokens/event.ts';
import { requireClient } from './client.ts';
import type { revokeBotTokenInput } from './schema.ts';

/** Ends a token of the app's own (RFC 7009); for every other text it does nothing, and says the same. */
export async function revokeBotToken(ctx: Context, input: z.output<typeof revokeBotTokenInput>) {
  const { app, as } = await requireClient(ctx, input);
  const hash = hashOfSecret('cos_pat_', input.token);
  const token = hash === null ? null : await AccessToken.findOne({ where: { hash, appId: app.id } });
  if (token === null) return {};
  await transaction(async () => {
    if ((await AccessToken.destroy({ where: { id: token.id } })) === 0) return;
    await recordTokenEvent(as, 'token.revoked', token, { app: app.id });
  });
  return {};
}
