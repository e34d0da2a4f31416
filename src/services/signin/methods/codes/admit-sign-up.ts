import type { Context } from '../../../../context.ts';
import type { Account } from '../../../../database/models/account.ts';
import { queueMail } from '../../../foundation/mail/queue.ts';
import { findByEmail, lockAccount } from '../../../people/accounts/account.ts';
import { listCredentials } from '../../../people/credentials/credentials.ts';
import { takeOver } from '../../../tenancy/identities/reclaim.ts';
import { bindInvitation } from '../../../tenancy/invitations/invitation.ts';
import { belongsSomewhere } from '../../../tenancy/memberships/membership.ts';
import { createSignedUp, type SignedUp } from '../../sign-up/signed-up.ts';

/**
 * Makes the account of a sign-up and mails a code to its address, inside the caller's transaction.
 * A sign-up that still waits for its code is replaced (security P11). If the account has more than
 * that, only the code ends it. If the address is proved, its owner gets a mail, and nothing else
 * happens.
 */
export async function admitSignUp(
  ctx: Context,
  { invitation, ...signedUp }: SignedUp & { invitation: string | null },
): Promise<void> {
  const { email, name, locale, passwordHash } = signedUp;
  const found = await findByEmail(email);
  const holder = found === null ? null : await lockAccount(found.id);
  if (holder !== null && holder.disabledAt !== null) return;
  if (holder !== null && holder.emailProof !== 'none')
    return queueMail(ctx, { about: 'account', email });
  const codeOnly = () => queueMail(ctx, { about: 'code', purpose: 'verify', email });
  if (holder !== null && (await hasMoreThanSignUp(ctx, holder))) return codeOnly();
  if (holder !== null) {
    await takeOver(ctx, holder, { by: 'signup' });
    // A member keeps the name that their organization gave them (security I4).
    const own = { name, ...(locale === null ? {} : { locale }) };
    const described = (await belongsSomewhere(holder.id)) ? {} : own;
    await holder.update({
      ...described,
      passwordHash,
      awaitsCode: true,
      signUpReplacedAt: ctx.now,
    });
  }
  const account = holder ?? (await createSignedUp(ctx, signedUp, 'none'));
  if (invitation !== null) await bindInvitation(invitation, account);
  await codeOnly();
}

/**
 * Whether an unproved account has credentials that no sign-up made, such as an operator's token for
 * a SCIM user. Anyone can sign up with an address, so a sign-up alone must not end them.
 */
async function hasMoreThanSignUp(ctx: Context, { id, awaitsCode }: Account): Promise<boolean> {
  const credentials = await listCredentials(ctx, id);
  return credentials.some(({ kind }) => kind !== 'password' || !awaitsCode);
}
