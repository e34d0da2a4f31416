import { Op } from 'sequelize';
import type { Context } from '../../../../context.ts';
import { ScimToken } from '../../../../database/models/scim-token.ts';
import { transaction } from '../../../../database/transaction.ts';

// As with personal access tokens: the request remembers the use, the clock writes it down (security P13).

const minuteMs = 60_000;

/** Remembers that the token of this hash was used now, unless that is written down for this minute already. */
export function noteScimTokenUse(ctx: Context, hash: string, lastUsedAt: Date | null): void {
  if (lastUsedAt === null || lastUsedAt <= minuteBefore(ctx.now))
    ctx.scim.tokenUses.set(hash, ctx.now);
}

/** Writes down what was remembered, each use in a transaction of its own; what fails is left for the next time. */
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
