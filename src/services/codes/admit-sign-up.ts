import type { Context } from '../../context.ts';
import { findByEmail } from '../accounts/find.ts';
import { lockAccount } from '../accounts/lock.ts';
import { createSignedUp, type SignedUp } from '../accounts/signed-up.ts';
import { takeOver } from '../identities/reclaim.ts';
import { bindInvitation } from '../invitations/join.ts';
import { queueMail } from '../mail/queue.ts';
import { belongsSomewhere } from '../memberships/find.ts';

/**
 * Makes the account that somebody signed up for, and mails a code to its address. One whose address nobody has proved
 * becomes theirs instead (security P11); where there is a proved one its owner is told, and nothing else happens.
 * Call it inside a transaction.
 */
export async function admitSignUp(
  ctx: Context,
  { invitation, ...signedUp }: SignedUp & { invitation: string | null },
): Promise<void> {
  const { email, name, locale, passwordHash } = signedUp;
  const found = await findByEmail(email);
  const holder = found === null ? null : await lockAccount(found.id);
  if (holder !== null && holder.disabledAt !== null) return;
  if (holder !== null && holder.emailProof !== 'none') return queueMail(ctx, { about: 'account', email });
  if (holder !== null) {
    await takeOver(ctx, holder, { by: 'signup' });
    // A member is called what their organization knows them by (security I4), and stays as they are.
    const own = { name, ...(locale === null ? {} : { locale }) };
    const described = (await belongsSomewhere(holder.id)) ? {} : own;
    await holder.update({ ...described, passwordHash, awaitsCode: true, signUpReplacedAt: ctx.now });
  }
  const account = holder ?? (await createSignedUp(ctx, signedUp, 'none'));
  if (invitation !== null) await bindInvitation(invitation, account);
  await queueMail(ctx, { about: 'code', purpose: 'verify', email });
}
