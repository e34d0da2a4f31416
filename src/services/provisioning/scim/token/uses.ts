import { Op } from 'sequelize';
import type { Context } from '../../../../context.ts';
import { ScimToken } from '../../../../database/models/scim-token.ts';
import { transaction } from '../../../../database/transaction.ts';

// Like personal access tokens: the request remembers the use, a job writes it (security P13).

const minuteMs = 60_000;

/** Remembers that the token of this hash was used now, unless this minute is already stored. */
export function noteScimTokenUse(ctx: Context, hash: string, lastUsedAt: Date | null): void {
  if (lastUsedAt === null || lastUsedAt <= minuteBefore(ctx.now))
    ctx.scim.tokenUses.set(hash, ctx.now);
}

/**
 * Writes the remembered uses, each in its own transaction. A failed write is retried the next time.
 */
export async function writeScimTokenUses(ctx: Context): Promise<void> {
  for (const [hash, at] of [...ctx.scim.tokenUses]) {
    const stale = {
      [Op.or]: [{ lastUsedAt: null }, { lastUsedAt: { [Op.lte]: minuteBefore(at) } }],
    };
    await transaction(() => ScimToken.update({ lastUsedAt: at }, { where: { hash, ...stale } }));
    if (ctx.scim.tokenUses.get(hash) === at) ctx.scim.tokenUses.delete(hash);
  }
}

function minuteBefore(instant: Date): Date {
  return new Date(instant.getTime() - minuteMs);
}
