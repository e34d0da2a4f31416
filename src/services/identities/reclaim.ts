import type { Context } from '../../context.ts';
import type { Account } from '../../database/models/account.ts';
import { Identity } from '../../database/models/identity.ts';
import { recordEvent } from '../events/record.ts';
import { endSessions } from '../sessions/end.ts';
import { discardTotp } from '../two-factor/discard.ts';

/**
 * Ends what an earlier holder left on an account whose address was never proven, now that the
 * organization owning the domain vouches for somebody (security I3): password, sessions, other links.
 */
export async function reclaim(ctx: Context, account: Account): Promise<void> {
  if (account.emailProof !== 'none' && account.emailProof !== 'auto') return;
  await account.update({ emailProof: 'domain', passwordHash: null });
  await discardTotp(account.id);
  await endSessions(ctx, { accountId: account.id });
  await Identity.destroy({ where: { accountId: account.id } });
  await recordEvent(ctx, {
    kind: 'account.reclaimed',
    subject: { type: 'user', id: account.id, name: account.name },
  });
}
