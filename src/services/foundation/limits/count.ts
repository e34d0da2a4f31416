import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { select } from '../../../database/select.ts';
import { keyOf, type Limit, subjectOf } from './limit.ts';

/** The window of a count, and the count so far. */
interface Counted {
  id: string;
  used: number;
}

/**
 * Whether a window lasts at an instant, as SQL. A window that began in the future is from before
 * the clock was set back, and has ended: its lock would last longer by that time. The clocks of two
 * daemons may be a minute apart.
 */
export const lasts = (now: string, of = ''): string =>
  `(${of}began_at + ${of}seconds > ${now} AND ${of}began_at - 60 <= ${now})`;

// One conditional upsert, so that parallel counts, in any process, never exceed the limit. A window
// that has ended starts anew; a full one returns no row.
const lasting = lasts('$5', 'c.');
const upsert = `INSERT INTO counters AS c (key, subject, window_id, used, seconds, began_at, expires_at)
  VALUES ($1, $2, $3, 1, $4, $5, $6)
  ON CONFLICT (key) DO UPDATE SET
    window_id = CASE WHEN ${lasting} THEN c.window_id ELSE $3 END,
    used = CASE WHEN ${lasting} THEN c.used + 1 ELSE 1 END,
    seconds = CASE
      WHEN ${lasting} THEN c.seconds
      WHEN c.used < $7 OR c.began_at + 2 * c.seconds <= $5 THEN $4
      WHEN 2 * c.seconds < $8 THEN 2 * c.seconds
      ELSE $8 END,
    began_at = CASE WHEN ${lasting} THEN c.began_at ELSE $5 END,
    expires_at = CASE WHEN c.expires_at > $6 THEN c.expires_at ELSE $6 END
  WHERE c.used < $7 OR NOT ${lasting}
  RETURNING window_id AS id, used`;

/**
 * Counts one in the current window, or returns null if it is full. Call it inside a transaction.
 */
export async function countUp(ctx: Context, limit: Limit): Promise<Counted | null> {
  const { of, most, seconds, longest = seconds } = limit;
  const now = epochSeconds(ctx.now);
  const [counted] = await select<Counted>(upsert, [
    keyOf(ctx, limit),
    subjectOf(ctx, of),
    randomUUIDv7(),
    seconds,
    now,
    now + 2 * longest,
    most,
    longest,
  ]);
  return counted ?? null;
}

/** An instant as the counters store it: seconds since 1970. */
export function epochSeconds(instant: Date): number {
  return instant.getTime() / 1000;
}
