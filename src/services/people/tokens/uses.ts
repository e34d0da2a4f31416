import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { transaction } from '../../../database/transaction.ts';

// When a token was last used is known to the minute, and no request waits for it to be written (security P13):
// the request remembers it, the clock writes it down.

const minuteMs = 60_000;

/** Remembers that a token was used now, unless that is written down for this minute already. */
export function noteTokenUse(ctx: Context, id: string, lastUsedAt: Date | null): void {
  if (lastUsedAt === null || lastUsedAt <= minuteBefore(ctx.now)) ctx.tokenUses.set(id, ctx.now);
}

/** Writes down what was remembered, each use in a transaction of its own; what fails is left for the next time. */
export async function writeTokenUses(ctx: Context): Promise<void> {
  for (const [id, at] of [...ctx.tokenUses]) {
    const stale = {
      [Op.or]: [{ lastUsedAt: null }, { lastUsedAt: { [Op.lte]: minuteBefore(at) } }],
    };
    await transaction(() => AccessToken.update({ lastUsedAt: at }, { where: { id, ...stale } }));
    if (ctx.tokenUses.get(id) === at) ctx.tokenUses.delete(id);
  }
}

function minuteBefore(instant: Date): Date {
  return new Date(instant.getTime() - minuteMs);
}
