import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Session } from '../../../database/models/session.ts';
import { requireOperator, requireUser } from '../../foundation/authority/require.ts';
import { readPage } from '../../foundation/page.ts';
import { requireAccount } from '../accounts/find.ts';
import { ownSessionOf } from './own.ts';
import type { listOwnSessionsInput, listSessionsInput } from './schema.ts';

type Input = z.output<typeof listOwnSessionsInput> & Partial<z.output<typeof listSessionsInput>>;

/** The live sessions of the person who asks; for the operator, those of the account named. */
export async function listSessions(ctx: Context, input: Input) {
  const accountId = await whose(ctx, input.user);
  const current = ownSessionOf(ctx.actor);
  return readPage(
    input,
    (after, limit) =>
      Session.findAll({
        where: { accountId, endedAt: null, expiresAt: { [Op.gt]: ctx.now }, id: { [Op.gt]: after } },
        order: ['id'],
        limit,
      }),
    (row) => row.id,
    (row) => view(row, current),
  );
}

async function whose(ctx: Context, user: string | undefined): Promise<string> {
  if (user === undefined) return requireUser(ctx, 'sessions.see').accountId;
  requireOperator(ctx);
  return (await requireAccount(user)).id;
}

function view(session: Session, current: string | null) {
  const { id, method, connectionId, createdAt, lastSeenAt, address, userAgent } = session;
  return {
    id,
    method,
    ...(connectionId === null ? {} : { connection: connectionId }),
    createdAt: createdAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
    address,
    userAgent,
    current: id === current,
  };
}
