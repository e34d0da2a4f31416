import { Op } from 'sequelize';
import type { z } from 'zod';
import { secondsOf } from '../../config/duration.ts';
import type { Context } from '../../context.ts';
import { orderedId } from '../../crypto/id.ts';
import { newSecret } from '../../crypto/secret.ts';
import { AccessToken } from '../../database/models/access-token.ts';
import { OAuthApp } from '../../database/models/app.ts';
import { transaction } from '../../database/transaction.ts';
import { Refusal } from '../../errors.ts';
import { lockAccount } from '../accounts/lock.ts';
import { requirePlace } from '../limits/spend.ts';
import { after } from '../sessions/lifetimes.ts';
import { recordTokenEvent } from '../tokens/event.ts';
import { clientRefused, requireClient } from './client.ts';
import type { mintedView, mintTokenInput } from './schema.ts';

const mostLive = 100;

/** Mints a token that acts as the app's owner (spec §4.4; RFC 6749 §4.4). */
export async function mintToken(
  ctx: Context,
  input: z.output<typeof mintTokenInput>,
): Promise<z.input<typeof mintedView>> {
  const { app, as } = await requireClient(ctx, input);
  if (input.grant_type !== 'client_credentials') throw unsupported();
  const { value, prefix, hash } = newSecret('cos_pat_');
  const lifetime = secondsOf(ctx.config.oauth.botTokenTtl);
  await transaction(async () => {
    await holdApp(app);
    await requirePlace(ctx, limitOf(ctx, app), 'This app asks for tokens too often.');
    await makeRoom(as, app);
    const made = await AccessToken.create({
      id: orderedId(),
      accountId: app.accountId,
      appId: app.id,
      kind: 'bot',
      name: `bot:${app.name}`,
      description: null,
      prefix,
      hash,
      createdAt: ctx.now,
      expiresAt: after(ctx.now, lifetime),
    });
    await recordTokenEvent(as, 'token.created', made, { app: app.id });
  });
  return { access_token: value, token_type: 'Bearer', expires_in: lifetime };
}

/** Nobody reclaims the account or revokes the app until the transaction ends; one that is gone meanwhile is refused. */
async function holdApp({ id, accountId }: OAuthApp): Promise<void> {
  await lockAccount(accountId);
  if ((await OAuthApp.count({ where: { id } })) === 0) throw clientRefused('no_such_app');
}

function limitOf({ config }: Context, app: OAuthApp) {
  return { name: 'token requests', of: app.id, most: config.limits.tokenRequests, seconds: 60 };
}

/** Ends the oldest tokens of an app that has as many live ones as an app may have (security P14). */
async function makeRoom(ctx: Context, { id: appId }: OAuthApp): Promise<void> {
  const surplus = await AccessToken.findAll({
    where: { appId, expiresAt: { [Op.gt]: ctx.now } },
    order: [['id', 'DESC']],
    offset: mostLive - 1,
    limit: mostLive,
  });
  for (const token of surplus) {
    await token.destroy();
    await recordTokenEvent(ctx, 'token.revoked', token, { app: appId, reason: 'too_many' });
  }
}

function unsupported(): Refusal {
  return new Refusal('unsupported_grant_type', 'Only the grant client_credentials is served here.');
}
