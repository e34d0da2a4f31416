import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { after, refreshIdleSeconds } from '../../foundation/time.ts';

/**
 * The SQL condition for a live session `s` at an instant. `idle` is the parameter for `idleSince`:
 * a session ends with its refresh token, after two weeks without use (security P4).
 */
export const isSessionLive = (now: string, idle: string): string =>
  `(s.ended_at IS NULL AND s.expires_at > ${now} AND s.last_seen_at > ${idle})`;

/** The SQL condition for a live session `s` whose account `a` is enabled. */
export const isUsable = (now: string, idle: string): string =>
  `(${isSessionLive(now, idle)} AND a.disabled_at IS NULL)`;

/** The earliest last use of a live session: a session unused since then has ended. */
export function idleSince({ now }: Pick<Context, 'now'>): Date {
  return after(now, -refreshIdleSeconds);
}

/** The condition of `isSessionLive` for a query of the model `Session`. */
export function areLive(ctx: Pick<Context, 'now'>) {
  const used = { lastSeenAt: { [Op.gt]: idleSince(ctx) } };
  return { endedAt: null, expiresAt: { [Op.gt]: ctx.now }, ...used };
}
