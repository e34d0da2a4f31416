import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { transaction } from '../../../database/transaction.ts';
import { recordTokenEvent } from './event.ts';
import { noSuchToken, requireToken } from './find.ts';
import type { ownTokenInput, tokenInput } from './schema.ts';
import { viewToken } from './view.ts';

type Input = z.output<typeof ownTokenInput> & Partial<z.output<typeof tokenInput>>;

/** Ends a token for good (spec §3.5): its row is gone, and what remains of it is the event. */
export async function revokeToken(ctx: Context, input: Input) {
  const token = await requireToken(ctx, input);
  await transaction(async () => {
    if ((await AccessToken.destroy({ where: { id: token.id } })) === 0) throw noSuchToken(token.id);
    await recordTokenEvent(ctx, 'token.revoked', token);
  });
  return viewToken(token);
}
