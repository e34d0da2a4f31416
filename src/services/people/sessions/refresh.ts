import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { RefreshToken } from '../../../database/models/refresh-token.ts';
import { Session } from '../../../database/models/session.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { after, reuseGraceSeconds } from '../../foundation/time.ts';
import { endSessions } from './end.ts';
import type { refreshInput } from './schema.ts';
import { keepRefreshToken, nextRefreshToken, readToken, signSession } from './tokens.ts';

/**
 * Rotates a refresh token (security P4). A second use within 30 seconds answers with the same
 * successor; a later one ends the whole session, for somebody has a copy.
 */
export async function refreshSession(ctx: Context, input: z.output<typeof refreshInput>) {
  const { refreshToken } = input;
  if (refreshToken === undefined) {
    throw new Refusal('unauthenticated', 'There is no session to refresh.', { hint: 'Sign in again.' });
  }
  const claims = await readToken(ctx, refreshToken, 'rt+jwt');
  if (claims === null) throw ended();
  const renewed = await transaction(async () => {
    // Held until the end, so that parallel uses of one token come one after the other.
    const token = await RefreshToken.findByPk(claims.jti, { lock: true });
    const session = token === null ? null : await findLiveSession(ctx, token.sessionId);
    if (token === null || session === null) return null;
    const successor = await successorOf(ctx, token, session);
    if (successor === null) return endFamily(ctx, session);
    await session.update({ lastSeenAt: ctx.now });
    return signSession(ctx, session.account, session, successor);
  });
  if (renewed === null) throw ended();
  return renewed;
}

/** The token that follows: a new one at the first use, the same one within the grace, none after it. */
async function successorOf(
  ctx: Context,
  token: RefreshToken,
  session: Session,
): Promise<Parameters<typeof signSession>[3] | null> {
  if (token.rotatedAt === null) {
    const successor = await nextRefreshToken(ctx, session);
    await keepRefreshToken(session, successor);
    await token.update({ rotatedAt: ctx.now, successorId: successor.id });
    return successor;
  }
  if (ctx.now > after(token.rotatedAt, reuseGraceSeconds) || token.successorId === null) return null;
  return RefreshToken.findByPk(token.successorId);
}

async function findLiveSession(ctx: Context, id: string): Promise<Session | null> {
  const session = await Session.findByPk(id, { include: { model: Account, as: 'account', required: true } });
  const live = session !== null && session.endedAt === null && session.expiresAt > ctx.now;
  return live && session.account.disabledAt === null ? session : null;
}

/** Answers null rather than throwing, so that the end of the family is committed. */
async function endFamily(ctx: Context, session: Session): Promise<null> {
  await endSessions(ctx, { id: session.id });
  await recordEvent(ctx, {
    kind: 'session.reuse.detected',
    organizationId: session.organizationId,
    subject: { type: 'user', id: session.accountId, name: session.account.name },
    data: { session: session.id },
  });
  return null;
}

function ended(): Refusal {
  return new Refusal('invalid_credential', 'The session has ended.', { hint: 'Sign in again.' });
}
