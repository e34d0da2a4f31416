import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { transaction } from '../../../database/transaction.ts';

// The last use of a token is known to the minute, and no request waits for the write
// (security P13). The request remembers the use; the clock writes it.

const minuteMs = 60_000;

/** Remembers that a token was used now, unless a use in this minute is stored already. */
export function noteTokenUse(ctx: Context, id: string, lastUsedAt: Date | null): void {
  if (lastUsedAt === null || lastUsedAt <= minuteBefore(ctx.now)) ctx.tokenUses.set(id, ctx.now);
}

/**
 * Writes the remembered uses, each in a transaction of its own; a failed write is tried again the
 * next time.
 */
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
