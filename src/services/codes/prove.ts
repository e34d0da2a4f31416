import type { Context } from '../../context.ts';
import type { Account } from '../../database/models/account.ts';
import { Tombstone } from '../../database/models/tombstone.ts';
import { recordEvent } from '../events/record.ts';
import { takeOver } from '../identities/reclaim.ts';
import { joinInvited } from '../invitations/join.ts';
import { ensureMember } from '../memberships/ensure.ts';
import { findGoverningSettings } from '../signin/governing.ts';

/**
 * Writes that the reader of the mailbox has proved an address that nobody had. What an earlier holder left ends, but
 * for the code of a sign-up, which proves what that one left (security P11). Call it with the account held.
 */
export async function proveAddress(
  ctx: Context,
  account: Account,
  by: 'signup' | 'another code',
): Promise<void> {
  if (account.emailProof !== 'none') return;
  if (by !== 'signup') await takeOver(ctx, account, { by: 'mail' });
  await account.update({ emailProof: 'mail' });
  await recordEvent(ctx, {
    kind: 'user.email.verified',
    subject: { type: 'user', id: account.id, name: account.name },
  });
  await joinInvited(ctx, account);
  await joinByDomain(ctx, account);
}

/** Where the organization that has verified the domain lets people sign up, they belong to it, unless it took them out (security I5). */
async function joinByDomain(ctx: Context, account: Account): Promise<void> {
  const { organizationId, verified, settings } = await findGoverningSettings(ctx, account.email);
  if (organizationId === null || !verified || !settings.allowSelfSignup) return;
  const key = { organizationId, accountId: account.id };
  if ((await Tombstone.count({ where: key })) > 0) return;
  await ensureMember(ctx, organizationId, account, { kind: 'manual', by: account.id });
}
