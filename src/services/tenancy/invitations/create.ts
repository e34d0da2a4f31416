import { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { mayMailInvitation } from '../../foundation/limits/mail.ts';
import { requirePlace } from '../../foundation/limits/spend.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { queueMail } from '../../foundation/mail/queue.ts';
import { after } from '../../foundation/time.ts';
import { findByEmail } from '../../people/accounts/find.ts';
import { isMember } from '../memberships/find.ts';
import { operationFor } from './inviter.ts';
import type { createInvitationInput } from './schema.ts';
import { hashInvitationToken, invitationToken, invitationUrl } from './token.ts';
import { viewInvitation } from './view.ts';

type Input = z.output<typeof createInvitationInput>;

const lifeSeconds = 7 * 24 * 3600;
const mostADay = 50;

/**
 * Invites an address into the organization, with or without an account of it, in a role that the actor may grant
 * (security O6). An earlier invitation of the address is void then. Where the instance sends mail, it is mailed, unless
 * the organization has invited the address too often lately; the answer says so, and the event whether it is mailed.
 */
export async function createInvitation(ctx: Context, input: Input) {
  const { organization } = await requireAuthority(ctx, operationFor(input.role), input.org);
  return transaction(() => invite(ctx, organization, input));
}

async function invite(ctx: Context, organization: Organization, input: Input) {
  // Held until the end, so that of two for one address the second replaces the first.
  await Organization.findByPk(organization.id, { lock: Transaction.LOCK.NO_KEY_UPDATE });
  await requireNoMember(organization, input.email);
  const limit = { name: 'invitations', of: organization.id, most: mostADay, seconds: 86_400 };
  await requirePlace(ctx, limit, `${organization.slug} has invited ${mostADay} people within a day.`);
  const earlier = { where: { organizationId: organization.id, email: input.email } };
  const replaced = (await Invitation.destroy(earlier)) > 0;
  const mails = isMailConfigured(ctx);
  const mailed = mails && (await mayMailInvitation(ctx, input.email, organization.id));
  const invitation = await write(ctx, organization, input, mailed);
  if (mailed)
    await queueMail(ctx, { about: 'invitation', invitation: invitation.id, organizationId: organization.id });
  const token = invitationToken(ctx, invitation.id);
  const mail = { mailed, mailLimited: mails && !mailed };
  return { ...viewInvitation(invitation), token, url: invitationUrl(ctx, token), ...mail, replaced };
}

async function requireNoMember(organization: Organization, email: string): Promise<void> {
  const account = await findByEmail(email);
  if (account === null || !(await isMember(organization.id, account.id))) return;
  throw new Refusal('already_exists', `${email} is a member of ${organization.slug} already.`, {
    hint: 'idctl member role changes what they may do.',
  });
}

async function write(
  ctx: Context,
  organization: Organization,
  { email, role }: Input,
  mailed: boolean,
): Promise<Invitation> {
  const id = orderedId();
  const invitation = await Invitation.create({
    id,
    organizationId: organization.id,
    email,
    role,
    invitedBy: ctx.actor.kind === 'user' ? ctx.actor.accountId : null,
    tokenHash: hashInvitationToken(invitationToken(ctx, id)),
    createdAt: ctx.now,
    expiresAt: after(ctx.now, lifeSeconds),
  });
  await recordEvent(ctx, {
    kind: 'invitation.created',
    organizationId: organization.id,
    subject: { type: 'invitation', id, name: email },
    data: { role, mailed },
  });
  return invitation;
}
