import type { z } from 'zod';
import type { Actor, Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Refusal } from '../../../errors.ts';
import { authenticate } from '../authentication/authenticate.ts';
import { readToken } from '../sessions/tokens.ts';
import { requireClient } from './client.ts';
import { findShared } from './organization.ts';
import type { introspectionView, introspectTokenInput } from './schema.ts';

type View = z.input<typeof introspectionView>;

/**
 * What a token is worth now (RFC 7662), to an app of an organization that the token's account is a member of (security
 * O9). To every other app it is like a token that does not exist.
 */
export async function introspectToken(
  ctx: Context,
  input: z.output<typeof introspectTokenInput>,
): Promise<View> {
  const { app } = await requireClient(ctx, input);
  const tokenUses = new Map<string, Date>();
  const holder = await findHolder({ ...ctx, tokenUses }, input.token);
  if (holder?.kind !== 'user') return { active: false };
  const organization = await findShared(app.id, holder.accountId);
  if (organization === null) return { active: false };
  // Whoever asks is about to serve it; a stranger's question is no use of a token.
  for (const [id, at] of tokenUses) ctx.tokenUses.set(id, at);
  const details = holder.via === 'session' ? sessionDetails(ctx, input.token) : tokenDetails(holder.tokenId);
  return { active: true, sub: holder.accountId, token_type: 'Bearer', organization, ...(await details) };
}

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
  const token = await AccessToken.findByPk(id, { include: 'app' });
  if (token === null) return {};
  return {
    ...(token.app ? { client_id: token.app.clientId } : {}),
    scope: token.scope,
    iat: seconds(token.createdAt),
    ...(token.expiresAt === null ? {} : { exp: seconds(token.expiresAt) }),
  };
}

function seconds(instant: Date): number {
  return Math.floor(instant.getTime() / 1000);
}
