import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { signToken, type TokenClaims, type TokenType, verifyToken } from '../../../crypto/jwt.ts';
import { openState, signState } from '../../../crypto/signed.ts';
import type { Account } from '../../../database/models/account.ts';
import type { RefreshToken } from '../../../database/models/refresh-token.ts';
import type { Session } from '../../../database/models/session.ts';
import { insertRow } from '../../../database/select.ts';
import {
  currentSigner,
  findVerificationKey,
  requireSigner,
} from '../../foundation/keys/signing-key.ts';
import {
  accessTokenSeconds,
  after,
  refreshIdleSeconds,
  wholeSeconds,
} from '../../foundation/time.ts';
import { viewUser } from '../accounts/account.ts';

type SessionTimes = Pick<Session, 'id' | 'expiresAt'>;
type RefreshRow = Pick<RefreshToken, 'id' | 'keyId' | 'issuedAt' | 'expiresAt'>;

/** Creates, but does not store, a refresh token for two weeks, or until its session expires. */
export async function nextRefreshToken(ctx: Context, session: SessionTimes): Promise<RefreshRow> {
  const { kid } = await currentSigner(ctx);
  const expiresAt = earlier(after(ctx.now, refreshIdleSeconds), session.expiresAt);
  return { id: randomUUIDv7(), keyId: kid, issuedAt: ctx.now, expiresAt };
}

/** Stores the refresh token; call it inside the transaction that begins or renews the session. */
export async function keepRefreshToken(session: SessionTimes, token: RefreshRow): Promise<void> {
  const { id, keyId, issuedAt, expiresAt } = token;
  const row = {
    id,
    session_id: session.id,
    key_id: keyId,
    issued_at: issuedAt,
    expires_at: expiresAt,
  };
  await insertRow('refresh_tokens', row);
}

/** The answer to a sign-in or a refresh. The same row always gives the same refresh token. */
export async function signSession(
  ctx: Context,
  account: Account,
  session: SessionTimes,
  refresh: RefreshRow,
) {
  const whose = {
    iss: ctx.config.baseUrl,
    aud: ctx.config.baseUrl,
    sub: account.id,
    sid: session.id,
  };
  const access: TokenClaims = {
    ...whose,
    jti: randomUUIDv7(),
    iat: wholeSeconds(ctx.now),
    exp: wholeSeconds(earlier(after(ctx.now, accessTokenSeconds), session.expiresAt)),
  };
  const renewal: TokenClaims = {
    ...whose,
    jti: refresh.id,
    iat: wholeSeconds(refresh.issuedAt),
    exp: wholeSeconds(refresh.expiresAt),
  };
  const [current, renewing] = [await currentSigner(ctx), await requireSigner(ctx, refresh.keyId)];
  const accessToken = signToken({ typ: 'at+jwt', signer: current, claims: access });
  const refreshToken = signToken({ typ: 'rt+jwt', signer: renewing, claims: renewal });
  return {
    user: viewUser(ctx, account),
    accessToken,
    refreshToken,
    tokenType: 'Bearer' as const,
    expiresIn: access.exp - access.iat,
    /** Used only for the cookies, like `refreshExpiresIn`; the answer's schema leaves both out. */
    sessionName: nameSession(ctx, session.id),
    refreshExpiresIn: Math.max(0, wholeSeconds(refresh.expiresAt) - wholeSeconds(ctx.now)),
  };
}

/** The claims of a valid token of this instance and type, or null. */
export function readToken(
  ctx: Context,
  token: string,
  typ: TokenType,
): Promise<TokenClaims | null> {
  return verifyToken(token, {
    typ,
    issuer: ctx.config.baseUrl,
    audience: ctx.config.baseUrl,
    findKey: (kid) => findVerificationKey(ctx, kid),
    now: ctx.now,
  });
}

/** The value of the cookie that names a session. It does not give access. */
function nameSession(ctx: Context, sessionId: string): string {
  return signState(nameKey(ctx), { sessionId });
}

/** The id of the session that the cookie names; null if idctl did not write the cookie. */
export function namedSession({ client, ...ctx }: Context): string | null {
  const name = client.shown?.session;
  if (name === undefined) return null;
  return nameSchema.safeParse(openState(nameKey(ctx), name)).data?.sessionId ?? null;
}

const nameSchema = z.strictObject({ sessionId: z.uuid() });

function nameKey({ keyring }: Pick<Context, 'keyring'>) {
  return keyring.derive('session-name');
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
