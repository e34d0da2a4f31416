import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../context.ts';
import { select } from '../../database/select.ts';
import { epochSeconds } from './count.ts';
import { keyOf, type Limit, subjectOf } from './limit.ts';

// A stored secret that others judge is counted once, however many tries of it are under way. Its row in the table of
// counters says how many are, and has a length once it has been judged.

/** A secret: `apart` is what no other one has in common with it. */
export type Secret = Required<Pick<Limit, 'name' | 'of' | 'apart'>>;

const remembered = 30 * 86_400;

const find = 'SELECT used FROM counters WHERE key = $1 AND seconds > 0';
// See count.ts for the line after "INSERT".
const begin = `INSERT
  INTO counters AS c (key, subject, window_id, used, seconds, began_at, expires_at) VALUES ($1, $2, $3, 1, 0, $4, $5)
  ON CONFLICT (key) DO UPDATE SET used = c.used + 1, expires_at = excluded.expires_at RETURNING used, seconds`;
const judge = 'UPDATE counters SET seconds = $2 WHERE key = $1 AND seconds = 0 RETURNING used';
const leave =
  'UPDATE counters SET used = used - 1 WHERE key = $1 AND seconds = 0 AND used > 0 RETURNING used';

/** Whether the secret has been judged, as far as that is remembered. */
export async function isJudged(ctx: Context, secret: Secret): Promise<boolean> {
  return (await select(find, [keyOf(ctx, secret)], { prepared: true })).length > 0;
}

/** Begins a try of the secret; answers whether it has to be paid for. Call it inside the transaction that does. */
export async function beginTry(ctx: Context, secret: Secret): Promise<boolean> {
  const now = epochSeconds(ctx.now);
  const bind = [keyOf(ctx, secret), subjectOf(ctx, secret.of), randomUUIDv7(), now, now + remembered];
  const [row] = await select<{ used: number; seconds: number }>(begin, bind);
  return row?.used === 1 && row.seconds === 0;
}

/** Ends a try; answers whether it is the one to be paid back: the first that was judged, or the last of those that were not. */
export async function endTry(ctx: Context, secret: Secret, judged: boolean): Promise<boolean> {
  const key = keyOf(ctx, secret);
  if (judged) return (await select(judge, [key, remembered])).length > 0;
  const [row] = await select<{ used: number }>(leave, [key]);
  return row?.used === 0;
}
