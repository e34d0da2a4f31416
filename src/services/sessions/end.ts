import type { WhereOptions } from 'sequelize';
import type { Context } from '../../context.ts';
import { Session } from '../../database/models/session.ts';

/** Ends the live sessions of an account, of an organization's connections, or of both together; they stop at the next request. */
export async function endSessions(
  ctx: Context,
  which: { id: string } | { accountId: string; organizationId?: string } | { organizationId: string },
): Promise<number> {
  const where: WhereOptions = { ...which, endedAt: null };
  const [ended] = await Session.update({ endedAt: ctx.now }, { where });
  return ended;
}
