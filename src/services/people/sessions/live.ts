import type { Context } from '../../../context.ts';
import { after, refreshIdleSeconds } from '../../foundation/time.ts';

/**
 * Whether the session `s` is live, as SQL, at an instant and with what `idleSince` gives. It ends
 * with its refresh token: after two weeks without use (security P4).
 */
export const isSessionLive = (now: string, idle: string): string =>
  `(s.ended_at IS NULL AND s.expires_at > ${now} AND s.last_seen_at > ${idle})`;

/** Whether the session `s` is live and its account `a` enabled, as SQL. */
export const isUsable = (now: string, idle: string): string =>
  `(${isSessionLive(now, idle)} AND a.disabled_at IS NULL)`;

/** A session that was used before this has ended. */
export function idleSince({ now }: Pick<Context, 'now'>): Date {
  return after(now, -refreshIdleSeconds);
}
