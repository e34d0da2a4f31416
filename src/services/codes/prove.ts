import type { Context } from '../../context.ts';
import type { Account } from '../../database/models/account.ts';
import { isProved } from '../accounts/view.ts';
import { recordEvent } from '../events/record.ts';
import { takeOver } from '../identities/reclaim.ts';
import { joinInvited } from '../invitations/join.ts';
import { belongsSomewhere } from '../memberships/find.ts';
import { joinByDomain } from '../signin/join-by-domain.ts';

/**
 * Writes that the reader of the mailbox has proved an address that nobody had. What an earlier holder left ends, but
 * for the code of their own sign-up, which proves what they left (security P11); not where somebody was made a member
 * before, who need not be the one who signed up. Call it with the account held.
 */
export async function proveAddress(
  ctx: Context,
  account: Account,
  by: 'signup' | 'another code',
): Promise<void> {
  if (isProved(account)) return;
  if (by !== 'signup' || (await belongsSomewhere(account.id))) await takeOver(ctx, account, { by: 'mail' });
  await account.update({ emailProof: 'mail', awaitsCode: false, signUpReplacedAt: null });
  await recordEvent(ctx, {
    kind: 'user.email.verified',
    subject: { type: 'user', id: account.id, name: account.name },
  });
  await joinInvited(ctx, account);
  await joinByDomain(ctx, account, { kind: 'manual', by: account.id });
}
