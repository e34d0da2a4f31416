import type { Context } from '../../context.ts';
import type { Account } from '../../database/models/account.ts';
import { isProved } from '../accounts/view.ts';
import { recordEvent } from '../events/record.ts';
import { takeOver } from '../identities/reclaim.ts';
import { joinInvited } from '../invitations/join.ts';
import { joinByDomain } from '../signin/join-by-domain.ts';

/**
 * Records that the reader of the mailbox proved the address of an account without proof. What an earlier holder left
 * ends, unless the client that confirms its own sign-up left it (security P11). Call it with the account held.
 */
export async function proveAddress(
  ctx: Context,
  account: Account,
  by: 'signup' | 'another code',
): Promise<void> {
  if (isProved(account)) return;
  if (by !== 'signup') await takeOver(ctx, account, { by: 'mail' });
  await account.update({ emailProof: 'mail', awaitsCode: false, signUpReplacedAt: null });
  await recordEvent(ctx, {
    kind: 'user.email.verified',
    subject: { type: 'user', id: account.id, name: account.name },
  });
  await joinInvited(ctx, account);
  await joinByDomain(ctx, account, { kind: 'manual', by: account.id });
}
