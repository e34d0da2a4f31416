import { Op, type WhereOptions } from 'sequelize';
import type { Context } from '../../context.ts';
import { execute } from '../../database/execute.ts';
import { Session, type SignInMethod } from '../../database/models/session.ts';

type Which =
  | { id: string }
  | { organizationId: string }
  /** All of an account, or those that came through an organization, one connection of it, or a method. */
  | { accountId: string | string[]; organizationId?: string; connectionId?: string; method?: SignInMethod }
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

/**
 * Ends the live sessions of an account that came through the organization, and all of them when it has verified the
 * domain. Past the ORM: provisioning does it by the thousand.
 */
export async function endSessionsThrough(
  ctx: Context,
  organizationId: string,
  { accountId, domain }: { accountId: string; domain: string | null },
): Promise<void> {
  await execute(
    `UPDATE sessions SET ended_at = $1 WHERE account_id = $2 AND ended_at IS NULL AND (organization_id = $3
        OR EXISTS (SELECT 1 FROM domains WHERE organization_id = $3 AND name = $4 AND state = $5))`,
    [ctx.now, accountId, organizationId, domain, 'Verified'],
  );
}
