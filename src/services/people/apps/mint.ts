import { Op } from 'sequelize';
import type { z } from 'zod';
import { secondsOf } from '../../../config/duration.ts';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { newSecret } from '../../../crypto/secret.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { dialectOfDatabase, insertRow, select } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requirePlace } from '../../foundation/limits/spend.ts';
import { after } from '../../foundation/time.ts';
import { lockAccount } from '../accounts/lock.ts';
import { recordTokenEvent } from '../tokens/event.ts';
import { clientRefused, type ProvedApp, requireClient } from './client.ts';
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
  const made = { id: orderedId(), accountId: app.accountId, name: `bot:${app.name}` };
  await transaction(async () => {
    const { surplus, vouchedBy } = await holdApp(ctx, app);
    await requirePlace(ctx, limitOf(ctx, app), 'This app asks for tokens too often.');
    if (surplus) await makeRoom(as, app);
    await insertRow('access_tokens', {
      id: made.id,
      account_id: made.accountId,
      app_id: app.id,
      kind: 'bot',
      scope: 'write',
      name: made.name,
      prefix,
      hash,
      created_at: ctx.now,
      expires_at: after(ctx.now, lifetime),
      vouched_by: vouchedBy,
    });
    await recordTokenEvent(as, 'token.created', made, { app: app.id });
  });
  return { access_token: value, token_type: 'Bearer', expires_in: lifetime };
}

/**
 * Holds the account, and with it the app, until the transaction ends. An app that was revoked or regenerated meanwhile
 * is refused.
 * Answers whether the app has as many live tokens as it may have, and which provider stands behind it.
 */
async function holdApp(ctx: Context, { id, accountId, secretHash }: ProvedApp) {
  // On SQLite there is nobody else who writes.
  if (dialectOfDatabase() === 'postgres') await lockAccount(accountId);
  const [app] = await select<{ surplus: string | null; vouchedBy: string | null }>(held, [
    id,
    ctx.now,
    secretHash,
  ]);
  if (app === undefined) throw clientRefused('no_such_app');
  return { surplus: app.surplus !== null, vouchedBy: app.vouchedBy };
}

// Past the ORM, as nothing is asked of a token endpoint more often.
const held = `SELECT (
    SELECT t.id FROM access_tokens t WHERE t.app_id = p.id AND t.expires_at > $2
    ORDER BY t.id DESC LIMIT 1 OFFSET ${mostLive - 1}
  ) AS surplus, p.vouched_by AS "vouchedBy" FROM apps p WHERE p.id = $1 AND p.secret_hash = $3`;

function limitOf({ config }: Context, app: ProvedApp) {
  return { name: 'token requests', of: app.id, most: config.limits.tokenRequests, seconds: 60 };
}

/** Ends the oldest tokens of an app that has as many live ones as an app may have (security P14). */
async function makeRoom(ctx: Context, { id: appId }: ProvedApp): Promise<void> {
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
