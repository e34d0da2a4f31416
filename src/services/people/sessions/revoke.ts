import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Session } from '../../../database/models/session.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireUser } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { endSessions } from './end.ts';
import type { revokeSessionInput } from './schema.ts';

/** Ends one live session: one's own, or any for the operator. */
export async function revokeSession(ctx: Context, input: z.output<typeof revokeSessionInput>): Promise<void> {
  const own = ctx.actor.kind === 'operator' ? {} : { accountId: requireUser(ctx, 'sessions.end').accountId };
  await transaction(async () => {
    const session = await Session.findOne({ where: { id: input.id, endedAt: null, ...own } });
    if (session === null) throw new Refusal('not_found', `There is no live session ${input.id}.`);
    await endSessions(ctx, { id: session.id });
    await recordEvent(ctx, {
      kind: 'session.ended',
      subject: { type: 'session', id: session.id },
      data: { account: session.accountId },
    });
  });
}
