import { Op, type WhereOptions } from 'sequelize';
import type { Context } from '../../context.ts';
import { Session } from '../../database/models/session.ts';

type Which =
  | { id: string }
  | { organizationId: string }
  /** All of an account, or those that came through an organization or one connection of it. */
  | { accountId: string | string[]; organizationId?: string; connectionId?: string }
  /** All of an account but this one. */
  | { accountId: string; but: string | null };

/** Ends the live sessions of an account, of an organization's connections, or of both together; they stop at the next request. */
export async function endSessions(ctx: Context, which: Which): Promise<number> {
  const { but = null, ...exactly } = { but: null, ...which };
  const spared = but === null ? {} : { id: { [Op.ne]: but } };
  const where: WhereOptions = { ...exactly, ...spared, endedAt: null };
  const [ended] = await Session.update({ endedAt: ctx.now }, { where });
  return ended;
}
