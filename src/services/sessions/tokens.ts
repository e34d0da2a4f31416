import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../context.ts';
import { signToken, type TokenClaims, verifyToken } from '../../crypto/jwt.ts';
import type { Account } from '../../database/models/account.ts';
import { RefreshToken } from '../../database/models/refresh-token.ts';
import type { Session } from '../../database/models/session.ts';
import { viewUser } from '../accounts/view.ts';
import { currentSigner, findVerificationKey, requireSigner } from '../keys/signing.ts';
import { accessTokenSeconds, after, refreshIdleSeconds } from './lifetimes.ts';

/** A new refresh token of the session, idle for at most two weeks and never beyond the session's end. */
export async function issueRefreshToken(ctx: Context, session: Session): Promise<RefreshToken> {
  const { kid } = await currentSigner(ctx);
  return RefreshToken.create({
    id: randomUUIDv7(),
    sessionId: session.id,
    keyId: kid,
    issuedAt: ctx.now,
    expiresAt: earlier(after(ctx.now, refreshIdleSeconds), session.expiresAt),
  });
}

/** The answer to a sign-in or a refresh; the refresh token is signed from its row, to the same bytes each time. */
export async function signSession(ctx: Context, account: Account, session: Session, refresh: RefreshToken) {
  const whose = { iss: ctx.config.baseUrl, aud: ctx.config.baseUrl, sub: account.id, sid: session.id };
  const access: TokenClaims = {
    ...whose,
    jti: randomUUIDv7(),
    iat: seconds(ctx.now),
    exp: seconds(earlier(after(ctx.now, accessTokenSeconds), session.expiresAt)),
  };
  const renewal: TokenClaims = {
    ...whose,
    jti: refresh.id,
    iat: seconds(refresh.issuedAt),
    exp: seconds(refresh.expiresAt),
  };
  return {
    user: viewUser(account),
    accessToken: await signToken({ typ: 'at+jwt', signer: await currentSigner(ctx), claims: access }),
    refreshToken: await signToken({
      typ: 'rt+jwt',
      signer: await requireSigner(ctx, refresh.keyId),
      claims: renewal,
    }),
    tokenType: 'Bearer' as const,
    expiresIn: access.exp - access.iat,
    /** For the cookie alone; the answer's schema leaves it out. */
    refreshExpiresIn: Math.max(0, seconds(refresh.expiresAt) - seconds(ctx.now)),
  };
}

/** The claims of a token of this instance, type and moment, or null. */
export function readToken(
  ctx: Context,
  token: string,
  typ: 'at+jwt' | 'rt+jwt',
): Promise<TokenClaims | null> {
  return verifyToken(token, {
    typ,
    issuer: ctx.config.baseUrl,
    audience: ctx.config.baseUrl,
    findKey: (kid) => findVerificationKey(ctx, kid),
    now: ctx.now,
  });
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}

function seconds(instant: Date): number {
  return Math.floor(instant.getTime() / 1000);
}
