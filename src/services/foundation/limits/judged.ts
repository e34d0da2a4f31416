import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { select } from '../../../database/select.ts';
import { epochSeconds } from './count.ts';
import { keyOf, type Limit, subjectOf } from './limit.ts';

// A stored secret that others judge is counted once, however many tries of it are under way. Its row in the table of
// counters says how many are; once it has been judged the row has a length, and says whether it was accepted at last.

/** A secret: `apart` is what no other one has in common with it. */
export type Secret = Required<Pick<Limit, 'name' | 'of' | 'apart'>>;

/** What somebody else said of a secret. */
export type Verdict = 'accepted' | 'refused';

const remembered = 365 * 86_400;

const find = 'SELECT used FROM counters WHERE key = $1 AND seconds > 0 AND used = 1';
// See count.ts for the line after "INSERT".
const begin = `INSERT
  INTO counters AS c (key, subject, window_id, used, seconds, began_at, expires_at) VALUES ($1, $2, $3, 1, 0, $4, $5)
  ON CONFLICT (key) DO UPDATE SET
    used = CASE WHEN c.seconds = 0 THEN c.used + 1 ELSE c.used END, expires_at = excluded.expires_at
  RETURNING used, seconds`;
const judge = 'UPDATE counters SET seconds = $2, used = $3 WHERE key = $1 AND seconds = 0 RETURNING used';
const judgeAnew =
  'UPDATE counters SET used = $2 WHERE key = $1 AND seconds > 0 AND used <> $2 RETURNING used';
const leave =
  'UPDATE counters SET used = used - 1 WHERE key = $1 AND seconds = 0 AND used > 0 RETURNING used';

/** Whether the secret was accepted when it was judged last, as far as that is remembered. */
export async function isAccepted(ctx: Context, secret: Secret): Promise<boolean> {
  return (await select(find, [keyOf(ctx, secret)], { prepared: true })).length > 0;
}

/** Begins a try of a secret that is not known to be accepted; answers whether it has to be paid for. Call it inside the transaction that does. */
export async function beginTry(ctx: Context, secret: Secret): Promise<boolean> {
  const now = epochSeconds(ctx.now);
  const bind = [keyOf(ctx, secret), subjectOf(ctx, secret.of), randomUUIDv7(), now, now + remembered];
  const [row] = await select<{ used: number; seconds: number }>(begin, bind);
  return row?.used === 1 && row.seconds === 0;
}

/**
 * Ends a try, with null when nobody judged it; answers what becomes of its price: `back` when nothing has to be paid for
 * the secret, `due` when one that was accepted for nothing is refused now, else `as it is`.
 */
export async function endTry(
  ctx: Context,
  secret: Secret,
  verdict: Verdict | null,
): Promise<'back' | 'due' | 'as it is'> {
  const key = keyOf(ctx, secret);
  if (verdict === null) {
    const [row] = await select<{ used: number }>(leave, [key]);
    return row?.used === 0 ? 'back' : 'as it is';
  }
  const said = verdict === 'accepted' ? 1 : 0;
  const first = await select(judge, [key, remembered, said]);
  if (first.length > 0) return verdict === 'accepted' ? 'back' : 'as it is';
  const changed = await select(judgeAnew, [key, said]);
  return changed.length > 0 && verdict === 'refused' ? 'due' : 'as it is';
}
