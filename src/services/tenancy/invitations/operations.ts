import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hold } from '../../../database/hold.ts';
import { Account } from '../../../database/models/account.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import type { Role } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthorityOver } from '../../foundation/authority/over.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { email, givenInvitation, id, ref, role } from '../../foundation/fields.ts';
import { countInvitation, mayMailInvitation } from '../../foundation/limits/mail.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { queueMail } from '../../foundation/mail/queue.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import { after } from '../../foundation/time.ts';
import { holdAccount, isEmailVerified } from '../../people/accounts/account.ts';
import { emailUnverified } from '../../people/sessions/schema.ts';
import { findMember, isJoined } from '../memberships/memberships.sql.ts';
import {
  acceptedView,
  findByToken,
  findInvalid,
  findValid,
  hashInvitationToken,
  invitationInvalid,
  invitationToken,
  invitationUrl,
  invitationView,
  inviterName,
  joinByInvitation,
  newInvitationView,
  rightToInvite,
  viewInvitation,
  waiting,
  whyInvalid,
} from './invitation.ts';

const lifeSeconds = 7 * 24 * 3600;

/** Lists the pending invitations, oldest first. A view says if its invitation is invalid. */
export const listInvitations = operation({
  authority: 'invitations.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(invitationView),
  run: async (ctx, input, { organization }) => {
    const where = { organizationId: organization.id, ...waiting(ctx) };
    const { items, nextCursor } = await readRows(Invitation, { where }, input, (row) => row);
    const invalid = await findInvalid(items);
    const shown = items.map((each) => viewInvitation(each, invalid.get(each.id) ?? null));
    return { items: shown, nextCursor };
  },
});

const createInput = z.strictObject({ org: ref, email, role: role.default('member') });

type Inviting = z.output<typeof createInput>;

/**
 * Invites an address in a role that the actor may grant (security O6), in place of an earlier
 * invitation. The answer says whether a mail was queued, or why not.
 */
export const createInvitation = operation({
  authority: 'invitations.change',
  prove: (ctx, input) => requireAuthority(ctx, rightToInvite(input.role), input.org),
  letsIn: () => true,
  input: createInput,
  output: newInvitationView,
  run: (ctx, input, { organization }) => transaction(() => invite(ctx, organization, input)),
});

async function invite(ctx: Context, organization: Organization, input: Inviting) {
  const { id: organizationId } = organization;
  // A second invitation for an address must replace the first.
  await hold.organization({ id: organizationId }, 'alone');
  await requireNoMember(ctx, organization, input.email);
  await countInvitation(ctx, organization);
  const replaced = await Invitation.destroy({ where: { organizationId, email: input.email } });
  const mails = isMailConfigured(ctx);
  const mailed = mails && (await mayMailInvitation(ctx, input.email, organizationId));
  const invitation = await write(ctx, organizationId, input, mailed);
  if (mailed)
    await queueMail(ctx, { about: 'invitation', invitation: invitation.id, organizationId });
  const token = invitationToken(ctx, invitation.id);
  const told = { mailed, mailLimited: mails && !mailed, replaced: replaced > 0 };
  return { ...viewInvitation(invitation, null), token, url: invitationUrl(ctx, token), ...told };
}

async function requireNoMember(
  ctx: Context,
  organization: Organization,
  address: string,
): Promise<void> {
  // This is one query, so that its duration does not reveal whether a stranger has an account.
  const member = await findMember(ctx, organization.id, address);
  // A pushed person has not joined, and the organization knows of the push (security O8).
  if (member === null || member.pushed) return;
  throw new Refusal('already_exists', `${address} is already a member of ${organization.slug}.`, {
    hint: {
      to: 'change the role',
      operation: 'member.role',
      with: { user: address, org: organization.slug },
    },
  });
}

async function write(
  ctx: Context,
  organizationId: string,
  { email: address, role: as }: Inviting,
  mailed: boolean,
): Promise<Invitation> {
  const made = orderedId();
  const invitation = await Invitation.create({
    id: made,
    organizationId,
    email: address,
    role: as,
    invitedBy: ctx.actor.kind === 'user' ? ctx.actor.accountId : null,
    tokenHash: hashInvitationToken(invitationToken(ctx, made)),
    createdAt: ctx.now,
    expiresAt: after(ctx.now, lifeSeconds),
  });
  await recordEvent(ctx, {
    kind: 'invitation.created',
    ...eventAbout('invitation', { id: made, name: address }, organizationId),
    data: { role: as, mailed },
  });
  return invitation;
}

/** Revokes a pending invitation. The organization may be left out. */
export const revokeInvitation = operation({
  authority: 'invitations.change',
  prove: async (ctx, { org, id: which }) => {
    if (org !== undefined) return requireAuthority(ctx, 'invitations.change', org);
    const invitation = await Invitation.findByPk(which);
    const { organizationId } = invitation ?? {};
    return requireAuthorityOver(ctx, 'invitations.change', organizationId, notWaiting(which));
  },
  input: z.strictObject({ org: ref.optional(), id }),
  output: invitationView,
  ends: {
    ask: ({ email }) => `Revoke the invitation of ${email}?`,
    done: ({ email }) => `Revoked the invitation of ${email}.`,
  },
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const which = { id: input.id, organizationId: organization.id, ...waiting(ctx) };
      const invitation = await Invitation.findOne({ where: which });
      const reason = invitation && (await whyInvalid(invitation));
      // If the invitation was accepted just now, only removing the member ends the membership.
      if (invitation === null || (await Invitation.destroy({ where: which })) === 0)
        throw notWaiting(input.id);
      await recordEvent(ctx, {
        kind: 'invitation.revoked',
        ...eventAbout('invitation', { id: invitation.id, name: invitation.email }, organization.id),
      });
      return viewInvitation(invitation, reason);
    }),
});

function notWaiting(invitationId: string): Refusal {
  return new Refusal('not_found', `There is no pending invitation ${invitationId}.`, {
    hint: { to: 'list them', operation: 'invitation.list' },
  });
}

const tokenInput = z.strictObject({ token: givenInvitation });

/** Describes an invitation to the holder of its token; null if it cannot be accepted now. */
export const lookAtInvitation = operation({
  authority: 'public',
  input: tokenInput,
  run: async (ctx, { token }) => {
    const invitation = await findValid(ctx, token);
    if (invitation === null) return null;
    const { email: address, role: as, organization } = invitation;
    const inviter = await inviterName(invitation);
    return { email: address, role: as, inviter, organization: organization.name };
  },
});

/** Makes the caller a member if the invitation is for their address (security O6); repeatable. */
export const acceptInvitation = operation({
  authority: 'invitations.accept',
  input: tokenInput,
  output: acceptedView,
  run: (ctx, { token }, { accountId }) =>
    transaction(async () => {
      await holdAccount(ctx, accountId);
      const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
      const invitation = await findByToken(ctx, token);
      if (invitation === null) throw invitationInvalid();
      if (invitation.email !== account.email)
        throw new Refusal('forbidden', 'This invitation is for another e-mail address.', {
          hint: 'Sign in with the address that was invited.',
        });
      if (!isEmailVerified(ctx, account)) throw emailUnverified();
      const role = await join(ctx, invitation, account);
      const { organization } = invitation;
      return {
        organization: { id: organization.id, slug: organization.slug, name: organization.name },
        role,
      };
    }),
});

/** Makes the account a member and returns its role. Repeatable. */
async function join(ctx: Context, invitation: Invitation, account: Account): Promise<Role> {
  if (invitation.acceptedAt !== null) {
    // An accepted invitation does not make a removed member a member again.
    if (await isJoined(ctx, invitation.organizationId, account.id)) return invitation.role;
    throw invitationInvalid();
  }
  const isValid = (await whyInvalid(invitation)) === null;
  const role = isValid ? await joinByInvitation(ctx, invitation, account) : null;
  if (role === null) throw invitationInvalid();
  return role;
}
