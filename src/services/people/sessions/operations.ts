import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { Account } from '../../../database/models/account.ts';
import { RefreshToken } from '../../../database/models/refresh-token.ts';
import { Session } from '../../../database/models/session.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { id, instant, viewOf } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import { after, reuseGraceSeconds } from '../../foundation/time.ts';
import { ownOperation, ownOperationById } from '../accounts/own-operation.ts';
import { endOneSession, endSessions, ownSessionOf } from './end.ts';
import { areLive } from './live.sql.ts';
import { givenRefreshToken, signedInView } from './schema.ts';
import { readSession, rotateTo, type SessionOf, touchSession } from './sessions.sql.ts';
import { keepRefreshToken, nextRefreshToken, readToken, signSession } from './tokens.ts';

export const sessionView = z.object({
  id,
  method: z.string(),
  connection: z.string().optional(),
  createdAt: instant,
  lastSeenAt: instant,
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  current: z.boolean(),
});

/** A session as its owner and the operator see it; `current` is the id of the caller's session. */
export function viewSession(session: Session, current: string | null) {
  const { id, connectionId } = session;
  const through = connectionId === null ? {} : { connection: connectionId };
  return { ...viewOf(sessionView, session), ...through, current: id === current };
}

/** Lists the caller's live sessions. */
export const listSessions = ownOperation({
  authority: 'sessions.see',
  input: z.strictObject(pageInput),
  output: pageOf(sessionView),
  run: (ctx, input, { accountId }) => {
    const current = ownSessionOf(ctx.actor);
    const where = { accountId, ...areLive(ctx) };
    return readRows(Session, { where }, input, (row) => viewSession(row, current));
  },
});

/** Ends one live session: the caller's own, or any for the operator. */
export const revokeSession = ownOperationById({
  authority: 'sessions.end',
  input: z.strictObject({ id }),
  output: sessionView,
  run: (ctx, input, whose) =>
    transaction(async () => {
      const session = await Session.findOne({ where: { id: input.id, endedAt: null, ...whose } });
      if (session === null) throw new Refusal('not_found', `There is no live session ${input.id}.`);
      await endOneSession(ctx, session.id);
      return viewSession(session, ownSessionOf(ctx.actor));
    }),
});

/** Ends the caller's session and the session of the refresh token, if they exist. */
export const signOut = operation({
  authority: 'public',
  input: z.strictObject({ refreshToken: givenRefreshToken }),
  run: async (ctx, { refreshToken }) => {
    const claims = refreshToken === undefined ? null : await readToken(ctx, refreshToken, 'rt+jwt');
    const ids = new Set([claims?.sid ?? null, ownSessionOf(ctx.actor)]);
    const account = claims === null ? null : await Account.findByPk(claims.sub);
    await transaction(async () => {
      for (const id of ids) {
        if (id === null || (await endSessions(ctx, { id })) === 0) continue;
        const subject = { type: 'session', id };
        await recordEvent(named(ctx, account, id), { kind: 'session.ended', subject });
      }
    });
  },
});

/** The context; without a session token, its actor is the person of the refresh token. */
function named(ctx: Context, account: Account | null, sessionId: string): Context {
  if (ctx.actor.kind !== 'anonymous' || account === null) return ctx;
  const { id: accountId, name } = account;
  return { ...ctx, actor: { kind: 'user', via: 'session', accountId, name, sessionId } };
}

/** Rotates a refresh token. A second use more than 30 s later ends the session (security P4). */
export const refreshSession = operation({
  authority: 'public',
  input: z.strictObject({ refreshToken: givenRefreshToken }),
  output: signedInView,
  run: async (ctx, { refreshToken }) => {
    if (refreshToken === undefined) {
      throw new Refusal('unauthenticated', 'There is no session to refresh.', {
        hint: 'Sign in again.',
      });
    }
    const claims = await readToken(ctx, refreshToken, 'rt+jwt');
    if (claims === null) throw ended();
    const renewed = await transaction(async () => {
      // Parallel uses of one token run one after the other.
      const token = await hold.refreshToken(claims.jti);
      const found = token === null ? null : await readSession(token.sessionId);
      if (token === null || found === null || !isLive(ctx, found)) return null;
      const { session, account } = found;
      const successor = await successorOf(ctx, token, session);
      if (successor === null) return endFamily(ctx, found);
      await touchSession(session.id, ctx.now);
      return signSession(ctx, account, session, successor);
    });
    if (renewed === null) throw ended();
    return renewed;
  },
});

/** The next token: a new one at the first use, the same one for 30 seconds, and then none. */
async function successorOf(
  ctx: Context,
  token: RefreshToken,
  session: Session,
): Promise<Parameters<typeof signSession>[3] | null> {
  if (token.rotatedAt === null) {
    const successor = await nextRefreshToken(ctx, session);
    await keepRefreshToken(session, successor);
    await rotateTo(successor.id, token.id, ctx.now);
    return successor;
  }
  if (ctx.now > after(token.rotatedAt, reuseGraceSeconds) || token.successorId === null)
    return null;
  return RefreshToken.findByPk(token.successorId);
}

function isLive({ now }: Context, { session, account }: SessionOf): boolean {
  return session.endedAt === null && session.expiresAt > now && account.disabledAt === null;
}

/** Ends a session and records the reuse. Returns null: a throw would roll back the end. */
async function endFamily(ctx: Context, { session, account }: SessionOf): Promise<null> {
  const { id, organizationId } = session;
  await endSessions(ctx, { id });
  const about = eventAbout('user', account, organizationId);
  await recordEvent(ctx, { kind: 'session.reuse.detected', ...about, data: { session: id } });
  return null;
}

function ended(): Refusal {
  return new Refusal('invalid_credential', 'The session has ended.', { hint: 'Sign in again.' });
}
