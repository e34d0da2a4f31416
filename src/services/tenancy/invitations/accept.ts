import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import type { Invitation } from '../../../database/models/invitation.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireUser } from '../../foundation/authority/require.ts';
import { holdAccount } from '../../people/accounts/hold.ts';
import { isEmailVerified } from '../../people/accounts/view.ts';
import { emailUnverified } from '../../people/sessions/failed.ts';
import { isMember } from '../memberships/find.ts';
import { findByToken } from './find.ts';
import { inviterStands } from './inviter.ts';
import { joinByInvitation } from './join.ts';
import type { acceptInvitationInput } from './schema.ts';

/**
 * Makes the person who asks a member, if it is their address that was invited (security O6); asked again by the same
 * person it answers the same.
 */
export async function acceptInvitation(ctx: Context, input: z.output<typeof acceptInvitationInput>) {
  const { accountId } = requireUser(ctx, 'invitations.accept');
  return transaction(async () => {
    await holdAccount(ctx, accountId);
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
    const invitation = await findByToken(ctx, input.token);
    if (invitation === null) throw invitationInvalid();
    if (invitation.email !== account.email) throw forAnother();
    if (!isEmailVerified(ctx, account)) throw emailUnverified();
    await join(ctx, invitation, account);
    const { id, slug, name } = invitation.organization;
    return { organization: { id, slug, name }, role: invitation.role };
  });
}

async function join(ctx: Context, invitation: Invitation, account: Account): Promise<void> {
  if (invitation.acceptedAt !== null) {
    // Somebody who was taken out since does not come back by it.
    if (await isMember(invitation.organizationId, account.id)) return;
    throw invitationInvalid();
  }
  if (!(await inviterStands(invitation)) || !(await joinByInvitation(ctx, invitation, account)))
    throw invitationInvalid();
}

/** The one refusal of an invitation that nothing can be done with, whatever the reason. */
export function invitationInvalid(): Refusal {
  return new Refusal('invitation_invalid', 'This invitation is invalid or has expired.', {
    hint: 'Ask for a new one.',
  });
}

function forAnother(): Refusal {
  return new Refusal('forbidden', 'This invitation is for another e-mail address.', {
    hint: 'Sign in with the address that was invited.',
  });
}
