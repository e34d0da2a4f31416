import type { Context } from '../../../../context.ts';
import { type Account, defaultLocale } from '../../../../database/models/account.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import { isProved } from '../../../people/accounts/account.ts';
import { localPart, takeOver } from '../../../tenancy/identities/reclaim.ts';
import { joinInvited } from '../../../tenancy/invitations/invitation.ts';
import { recordRenamed } from '../../../tenancy/scim-records/member.ts';
import { isNamedByClient } from '../../../tenancy/scim-records/record.ts';
import { joinByDomain } from '../../../tenancy/signin-settings/methods.ts';

/**
 * Records that the reader of the mailbox has proved the address of an unproved account. This ends
 * what an earlier holder left, unless the client that confirms its own sign-up left it
 * (security P11). Call it with the account locked.
 */
export async function proveAddress(
  ctx: Context,
  account: Account,
  by: 'signup' | 'another code',
): Promise<void> {
  if (isProved(account)) return;
  if (by !== 'signup') {
    await takeOver(ctx, account, { by: 'mail' });
    await forgetName(ctx, account);
  }
  await account.update({ emailProof: 'mail', awaitsCode: false, signUpReplacedAt: null });
  await recordEvent(ctx, {
    kind: 'user.email.verified',
    subject: { type: 'user', id: account.id, name: account.name },
  });
  await joinInvited(ctx, account);
  await joinByDomain(ctx, account, { kind: 'manual', by: account.id });
}

/**
 * Removes the name and language that an earlier holder chose; those from provisioning stay
 * (security I4).
 */
async function forgetName(ctx: Context, account: Account): Promise<void> {
  if (await isNamedByClient(account.id)) return;
  await account.update({ name: localPart(account), locale: defaultLocale });
  await recordRenamed(ctx, account);
}
