import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import type { Account } from '../../../database/models/account.ts';
import type { Invitation } from '../../../database/models/invitation.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { findOwner, isClaimed } from '../../foundation/domain-names/owns.ts';
import { giveBack, requireRoom, spend } from '../../foundation/limits/limit.ts';
import { countAsking } from '../../foundation/limits/mail.ts';
import { clientLimit } from '../../foundation/limits/password.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { queueAsked, queueMail } from '../../foundation/mail/queue.ts';
import { findByEmail, type signUpInput } from '../../people/accounts/account.ts';
import { hashNewPassword } from '../../people/accounts/password.ts';
import { signUpTicket } from '../../people/codes/code.ts';
import { listCredentials } from '../../people/credentials/credentials.ts';
import { takeOver } from '../../tenancy/identities/reclaim.ts';
import {
  bindInvitation,
  findByToken,
  invitationInvalid,
  joinInvited,
  whyInvalid,
} from '../../tenancy/invitations/invitation.ts';
import { belongsSomewhere } from '../../tenancy/memberships/memberships.sql.ts';
import { selfSignupAllowed } from '../../tenancy/signin-settings/methods.ts';
import { beginSession, requireSession } from '../begin.ts';
import { createSignedUp, type SignedUp } from './signed-up.ts';

type Input = z.output<typeof signUpInput>;

/**
 * Creates an account for a person who signs up. If the instance sends mail, a code confirms the
 * address first, and the ticket shows which client signed up. In this case the answer and the work
 * are the same for a taken address, whose owner gets a mail (security P7).
 */
export async function signUp(ctx: Context, input: Input) {
  const invitation = await requireAdmitted(ctx, input);
  const { email, name, locale = null } = input;
  const hash = () => hashNewPassword(ctx, input.password, input);
  if (!isMailConfigured(ctx)) return signUpAtOnce(ctx, input, invitation, hash);
  // The request counts before its password is hashed (security P6).
  await countAsking(ctx);
  const passwordHash = await hash();
  const signedUp = { email, name, locale, passwordHash };
  await transaction(() =>
    queueAsked(ctx, { about: 'signup', ...signedUp, invitation: invitation?.id ?? null }),
  );
  return { emailVerification: 'required' as const, ticket: signUpTicket(ctx, passwordHash) };
}

/**
 * Creates the account and signs it in. Its address is unproved: the instance treats it as verified
 * (spec §2.6), but the organization that owns the domain does not (security I3).
 */
async function signUpAtOnce(
  ctx: Context,
  input: Input,
  invitation: Invitation | null,
  hash: () => Promise<string>,
) {
  const limits = [clientLimit(ctx)];
  await requireRoom(ctx, limits);
  const { email, name, locale = null } = input;
  const signedUp: SignedUp = { email, name, locale, passwordHash: await hash() };
  // People who may sign up may learn that an address is taken; only the attempts are limited.
  await spend(ctx, limits);
  const session = await transaction(async () => {
    // Checked again: an organization may have verified the domain while the hash was computed.
    await requireAdmitted(ctx, input);
    const account = await createSignedUp(ctx, signedUp, 'auto');
    await giveBack(ctx, limits);
    if (invitation !== null) {
      await bindInvitation(invitation.id, account);
      await joinInvited(ctx, account);
    }
    return requireSession(await beginSession(ctx, account, { method: 'password' }));
  });
  return { emailVerification: 'done' as const, ...session };
}

/**
 * The invitation that allows the sign-up; null if none is needed. Refuses with `signup_closed`, or
 * `invitation_invalid` if the inviter may no longer invite (security O6).
 */
export async function requireAdmitted(
  ctx: Context,
  { email, invitation: token }: Pick<Input, 'email' | 'invitation'>,
): Promise<Invitation | null> {
  const domain = domainOf(email);
  const given = token === undefined ? null : await findInvitation(ctx, email, token);
  const invitation = given !== null && (await mayInvite(given, domain)) ? given : null;
  const isValid = invitation !== null && (await whyInvalid(invitation)) === null;
  if (isValid) return invitation;
  if (await selfSignupAllowed(ctx, domain)) return null;
  if (invitation !== null) throw invitationInvalid();
  if (await isClaimed(domain)) {
    throw new Refusal('signup_closed', `Addresses on ${domain} belong to an organization.`, {
      hint: 'Sign in through your organization, or ask its administrator for an account.',
    });
  }
  throw new Refusal('signup_closed', 'Sign-up is closed here.', {
    hint: 'Sign in through your organization, or ask your administrator for an account.',
  });
}

async function findInvitation(ctx: Context, email: string, token: string) {
  const invitation = await findByToken(ctx, token);
  return invitation?.email === email && invitation.acceptedAt === null ? invitation : null;
}

/** Whether the inviting organization has verified the domain, or none has (security O2). */
async function mayInvite({ organizationId }: Invitation, domain: string): Promise<boolean> {
  const owner = await findOwner(domain);
  return owner === null || owner === organizationId;
}

/**
 * Creates the account of a sign-up and mails a code to its address, inside the caller's
 * transaction. Replaces a sign-up that is still waiting for its code (security P11). If the account
 * has other credentials, only the code can end them. If the address is proved, its owner gets a
 * mail, and nothing else happens.
 */
export async function admitSignUp(
  ctx: Context,
  { invitation, ...signedUp }: SignedUp & { invitation: string | null },
): Promise<void> {
  const { email, name, locale, passwordHash } = signedUp;
  const found = await findByEmail(email);
  const holder = found === null ? null : await hold.account(found.id);
  if (holder !== null && holder.disabledAt !== null) return;
  if (holder !== null && holder.emailProof !== 'none')
    return queueMail(ctx, { about: 'account', email });
  const codeOnly = () => queueMail(ctx, { about: 'code', purpose: 'verify', email });
  if (holder !== null && (await hasMoreThanSignUp(ctx, holder))) return codeOnly();
  if (holder !== null) {
    await takeOver(ctx, holder, { by: 'signup' });
    // A member keeps the name that their organization gave them (security I4).
    const own = { name, ...(locale === null ? {} : { locale }) };
    const described = (await belongsSomewhere(ctx, holder.id)) ? {} : own;
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
 * Whether an unproved account has credentials that do not come from a sign-up, such as an
 * operator's token for an account of SCIM. Anyone can sign up with an address, so a sign-up alone
 * must not end them.
 */
async function hasMoreThanSignUp(ctx: Context, { id, awaitsCode }: Account): Promise<boolean> {
  const credentials = await listCredentials(ctx, id);
  return credentials.some(({ kind }) => kind !== 'password' || !awaitsCode);
}
