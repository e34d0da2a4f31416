import { Op } from 'sequelize';
import type { Context } from '../../context.ts';
import type { Account } from '../../database/models/account.ts';
import { Identity } from '../../database/models/identity.ts';
import { endCredentials } from '../accounts/credentials.ts';
import { isProvedForGood } from '../accounts/view.ts';
import { recordEvent } from '../events/record.ts';
import { detachIdentities, recordUnlinked } from './detach.ts';

/**
 * Readies an account for the person whom the organization owning its domain vouches for. If nobody ever proved
 * the address, or nobody but an earlier owner of the domain, what an earlier holder left ends (security I3); else only
 * what earlier owners have linked does (security I2). Call it inside the sign-in's transaction, before the first link.
 */
export async function reclaim(ctx: Context, account: Account, organizationId: string): Promise<void> {
  if (isProvedForGood(account)) return dropForeignLinks(ctx, account, organizationId);
  await account.update({ emailProof: 'domain' });
  await takeOver(ctx, account, { by: 'domain', organizationId });
}

/**
 * Ends what somebody left on an account whose address they never proved, for whoever has now proved it, or signs up
 * for it in their place (security I3, P11).
 */
export async function takeOver(
  ctx: Context,
  account: Account,
  {
    by,
    organizationId = null,
  }: { by: 'domain' | 'mail' | 'operator' | 'signup'; organizationId?: string | null },
): Promise<void> {
  await endCredentials(ctx, account.id);
  // What goes on with the account must see none of it.
  await account.reload();
  await recordEvent(ctx, {
    kind: 'account.reclaimed',
    organizationId,
    subject: { type: 'user', id: account.id, name: account.name },
    data: { by },
  });
}

/** Other organizations can only have linked the address while its domain was theirs. */
async function dropForeignLinks(ctx: Context, account: Account, organizationId: string): Promise<void> {
  if (ctx.config.trust.domains === 'off') return;
  const foreign = await Identity.findAll({
    where: { accountId: account.id, organizationId: { [Op.ne]: organizationId } },
  });
  await detachIdentities(ctx, foreign);
  for (const identity of foreign) await recordUnlinked(ctx, identity, account.name);
}
