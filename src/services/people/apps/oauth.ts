import { Op } from 'sequelize';
import { z } from 'zod';
import { secondsOf } from '../../../config/duration.ts';
import type { Actor, Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hashOfSecret, newSecret } from '../../../crypto/secret.ts';
import { hold } from '../../../database/hold.ts';
import { AccessToken, tokenScopes } from '../../../database/models/access-token.ts';
import { insertRow } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { createMemory } from '../../../host/memory.ts';
import { id, role } from '../../foundation/fields.ts';
import { requirePlace } from '../../foundation/limits/limit.ts';
import { operation } from '../../foundation/operation.ts';
import { after, wholeSeconds } from '../../foundation/time.ts';
import { authenticate } from '../authentication/authenticate.ts';
import { readToken } from '../sessions/tokens.ts';
import { recordTokenEvent, tokenUses } from '../tokens/token.ts';
import { findDetails, findSharedOrganization, type ProvedApp, readHeldApp } from './apps.sql.ts';
import { clientRefused, requireClient } from './client.ts';

// The requests that apps send themselves, authenticated with id and secret (`requireClient`).

// How an app authenticates, in the form or with HTTP Basic (RFC 6749 §2.3.1).
const client = {
  client_id: z.string().max(200).optional(),
  client_secret: z.string().max(200).optional(),
};

const token = z.string().min(1).max(4096);

const maxLive = 100;

/** Mints a token that acts as the app's owner (spec §4.4; RFC 6749 §4.4). */
export const mintToken = operation({
  authority: 'public',
  input: z.strictObject({ grant_type: z.string().max(200), ...client }),
  // The fields of RFC 6749 §5.1.
  output: z.object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int(),
  }),
  run: async (ctx, input) => {
    const { app, as } = await requireClient(ctx, input);
    if (input.grant_type !== 'client_credentials')
      throw new Refusal(
        'unsupported_grant_type',
        'An app can only use the grant type client_credentials.',
      );
    const { value, prefix, hash } = newSecret('cos_pat_');
    const lifetime = secondsOf(ctx.config.oauth.botTokenTtl);
    const made = { id: orderedId(), accountId: app.accountId, name: `bot:${app.name}` };
    await transaction(async () => {
      const { surplus, vouchedBy, unapproved } = await holdApp(ctx, app);
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
        unapproved,
      });
      await recordTokenEvent(as, 'token.created', made, { app: app.id });
    });
    return { access_token: value, token_type: 'Bearer' as const, expires_in: lifetime };
  },
});

function limitOf({ config }: Context, app: ProvedApp) {
  return { name: 'token requests', of: app.id, max: config.limits.tokenRequests, seconds: 60 };
}

/**
 * Locks the account, and with it the app. Refuses an app that was revoked or regenerated meanwhile.
 * Returns the app's marks (`marksOf`), and whether it has as many live tokens as allowed.
 */
async function holdApp(ctx: Context, { id, accountId, secretHash }: ProvedApp) {
  await hold.accounts([accountId]);
  const app = await readHeldApp(ctx, { id, secretHash }, maxLive);
  if (app === null) throw clientRefused('no_such_app');
  const { surplus, ...marks } = app;
  return { surplus: surplus !== null, ...marks };
}

/** Revokes the oldest tokens of an app that has as many live tokens as allowed (security P14). */
async function makeRoom(ctx: Context, { id: appId }: ProvedApp): Promise<void> {
  const surplus = await AccessToken.findAll({
    where: { appId, expiresAt: { [Op.gt]: ctx.now } },
    order: [['id', 'DESC']],
    offset: maxLive - 1,
    limit: maxLive,
  });
  for (const token of surplus) {
    await token.destroy();
    await recordTokenEvent(ctx, 'token.revoked', token, { app: appId, reason: 'too_many' });
  }
}

/** The answer (RFC 7662 §2.2). Only tokens of apps have `client_id`; a session has no `scope`. */
const introspectionView = z.union([
  z.object({
    active: z.literal(true),
    sub: id,
    client_id: z.string().optional(),
    scope: z.enum(tokenScopes).optional(),
    exp: z.int().optional(),
    iat: z.int().optional(),
    token_type: z.literal('Bearer'),
    organization: z
      .object({ id, slug: z.string(), role })
      .describe('The organization of the app, and the role of `sub` in it.'),
  }),
  z.object({ active: z.literal(false) }),
]);

/** Introspects a token (RFC 7662) of a member of the app's organization (security O9). */
export const introspectToken = operation({
  authority: 'public',
  input: z.strictObject({ token, ...client }),
  output: introspectionView,
  run: async (ctx, input): Promise<z.input<typeof introspectionView>> => {
    const { app } = await requireClient(ctx, input);
    const apart = { ...ctx, memory: createMemory() };
    const holder = await findHolder(apart, input.token);
    if (holder?.kind !== 'user') return { active: false };
    const organization = await findSharedOrganization(ctx, app.id, holder.accountId);
    if (organization === null) return { active: false };
    // The token counts as used only if its owner is a member of the app's organization.
    for (const [id, at] of tokenUses(apart)) tokenUses(ctx).set(id, at);
    const details =
      holder.via === 'session' ? sessionDetails(ctx, input.token) : tokenDetails(holder.tokenId);
    return {
      active: true,
      sub: holder.accountId,
      token_type: 'Bearer',
      organization,
      ...(await details),
    };
  },
});

async function findHolder(ctx: Context, token: string): Promise<Actor | null> {
  try {
    return await authenticate(ctx, token);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'invalid_credential') return null;
    throw error;
  }
}

async function sessionDetails(ctx: Context, token: string) {
  const claims = await readToken(ctx, token, 'at+jwt');
  return claims === null ? {} : { iat: claims.iat, exp: claims.exp };
}

async function tokenDetails(id: string) {
  const token = await findDetails(id);
  if (token === null) return {};
  return {
    ...(token.clientId === null ? {} : { client_id: token.clientId }),
    scope: token.scope,
    iat: wholeSeconds(token.createdAt),
    ...(token.expiresAt === null ? {} : { exp: wholeSeconds(token.expiresAt) }),
  };
}

/** Revokes a token of this app (RFC 7009). Any other text gets the same answer. */
export const revokeBotToken = operation({
  authority: 'public',
  input: z.strictObject({ token, ...client }),
  // RFC 7009 §2.2: the status is the whole answer.
  output: z.object({}),
  run: async (ctx, input) => {
    const { app, as } = await requireClient(ctx, input);
    const hash = hashOfSecret('cos_pat_', input.token);
    const token =
      hash === null ? null : await AccessToken.findOne({ where: { hash, appId: app.id } });
    if (token === null) return {};
    await transaction(async () => {
      if ((await AccessToken.destroy({ where: { id: token.id } })) === 0) return;
      await recordTokenEvent(as, 'token.revoked', token, { app: app.id });
    });
    return {};
  },
});
