import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../context.ts';
import { Counter } from '../../database/models/counter.ts';
import { epochSeconds } from './count.ts';
import { keyOf, type Limit, subjectOf } from './limit.ts';
import { networkOf } from './network.ts';

const day = 86_400;
const recent = 30 * day;

/**
 * What a password costs to try: a place of the account's and one of the client's. Where this person has
 * signed in lately, they have places of their own, which a stranger's failures do not take (security P8).
 */
export async function passwordLimits(ctx: Context, email: string): Promise<Limit[]> {
  const own = ownLimit(ctx, email);
  const isKnown = (await Counter.count({ where: { key: keyOf(ctx, own) } })) > 0;
  const { apart: _, ...shared } = own;
  return [isKnown ? own : shared, clientLimit(ctx)];
}

/** Remembers for 30 days that the person has signed in from here; call it inside the sign-in's transaction. */
export async function rememberClient(ctx: Context, email: string): Promise<void> {
  if (ctx.config.limits.enabled === 'off') return;
  const own = ownLimit(ctx, email);
  const now = epochSeconds(ctx.now);
  await Counter.upsert({
    key: keyOf(ctx, own),
    subject: subjectOf(ctx, email),
    windowId: randomUUIDv7(),
    used: 0,
    seconds: own.seconds,
    beganAt: now,
    expiresAt: now + recent,
  });
}

function ownLimit(ctx: Context, email: string): Limit & { apart: string } {
  const { accountFailures: most } = ctx.config.limits;
  const apart = networkOf(ctx.client.address);
  return { name: 'password', of: email, apart, most, seconds: 900, longest: day };
}

/** What one client may be refused in a minute. */
export function clientLimit(ctx: Context): Limit {
  const { addressFailures: most } = ctx.config.limits;
  return { name: 'failures', of: networkOf(ctx.client.address), most, seconds: 60 };
}
