import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { transaction } from '../../../database/transaction.ts';
import { lockAccount } from '../accounts/lock.ts';
import { recordAppEvent } from './event.ts';
import { noSuchApp, requireApp } from './find.ts';
import type { revokeAppInput, revokeOwnAppInput } from './schema.ts';
import { viewApp } from './view.ts';

type Input = z.output<typeof revokeOwnAppInput> & Partial<z.output<typeof revokeAppInput>>;

/** Ends an app for good (spec §3.5), and the tokens it still has unless they are to be kept until they expire. */
export async function revokeApp(ctx: Context, input: Input) {
  const app = await requireApp(ctx, input);
  await transaction(async () => {
    // Whoever mints holds the account too, so that no token is made for an app that is going.
    await lockAccount(app.accountId);
    if (input.keepTokens) await AccessToken.update({ appId: null }, { where: { appId: app.id } });
    if ((await OAuthApp.destroy({ where: { id: app.id } })) === 0) throw noSuchApp(app.id);
    await recordAppEvent(ctx, { kind: 'app.revoked', keepTokens: input.keepTokens }, app);
  });
  return viewApp(app);
}
