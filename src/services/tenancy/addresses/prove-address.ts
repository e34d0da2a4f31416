import type { Context } from '../../../context.ts';
import { type Account, defaultLocale, isProved } from '../../../database/models/account.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { localPart, takeOver } from '../identities/reclaim.ts';
import { joinInvited } from '../invitations/invitation.ts';
import { recordRenamed } from '../scim-records/member.ts';
import { isNamedByClient } from '../scim-records/record.sql.ts';
import { joinByDomain } from '../signin-settings/methods.ts';

/** The proof of an account's address after a correct code from its mailbox. */
export const provedByMail = { emailProof: 'mail', awaitsCode: false } as const;

/**
 * Marks the address of an unproved account as proved by its mailbox. The person then joins the
 * organizations of the invitations used at sign-up, and the organization of the domain if it allows
 * self-signup. Unless the code confirms a sign-up, first removes the credentials and name of an
 * earlier holder (security P11). Call it with the account locked.
 */
export async function proveAddress(ctx: Context, account: Account, by: 'signup' | 'another code') {
  if (isProved(account)) return;
  if (by !== 'signup') {
    await takeOver(ctx, account, { by: 'mail' });
    await forgetName(ctx, account);
  }
  await account.update({ ...provedByMail, signUpReplacedAt: null });
  await recordEvent(ctx, {
    kind: 'user.email.verified',
    subject: { type: 'user', id: account.id, name: account.name },
  });
  await joinInvited(ctx, account);
  await joinByDomain(ctx, account, { kind: 'manual', by: account.id });
}

/**
 * Resets name and locale, which an earlier holder may have chosen. A name from SCIM stays, unless a
 * sign-up has replaced it.
 */
async function forgetName(ctx: Context, account: Account): Promise<void> {
  if (!account.awaitsCode && (await isNamedByClient(account.id))) return;
  await account.update({ name: localPart(account), locale: defaultLocale });
  await recordRenamed(ctx, account);
}
