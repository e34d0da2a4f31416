import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { endSessions } from './end.ts';
import { ownSessionOf } from './own.ts';
import type { signOutInput } from './schema.ts';
import { readToken } from './tokens.ts';

/**
 * Ends the session of the caller's credential or of the refresh token; without either (an access
 * token has no session) there is nothing to end, and that is fine.
 */
export async function signOut(ctx: Context, input: z.output<typeof signOutInput>): Promise<void> {
  const claims = input.refreshToken === undefined ? null : await readToken(ctx, input.refreshToken, 'rt+jwt');
  const ids = new Set([claims?.sid ?? null, ownSessionOf(ctx.actor)]);
  const account = claims === null ? null : await Account.findByPk(claims.sub);
  await transaction(async () => {
    for (const id of ids) {
      if (id === null || (await endSessions(ctx, { id })) === 0) continue;
      await recordEvent(named(ctx, account, id), { kind: 'session.ended', subject: { type: 'session', id } });
    }
  });
}

/** The refresh token alone says who signs out, where no access token is left. */
function named(ctx: Context, account: Account | null, sessionId: string): Context {
  if (ctx.actor.kind !== 'anonymous' || account === null) return ctx;
  const { id: accountId, name } = account;
  return { ...ctx, actor: { kind: 'user', via: 'session', accountId, name, sessionId } };
}
