import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { findByToken } from './find.ts';
import { inviterName } from './inviter.ts';
import type { acceptInvitationInput } from './schema.ts';

/** What an invitation is to, for whoever holds its token; null when it can no longer be accepted. */
export async function lookAtInvitation(ctx: Context, { token }: z.output<typeof acceptInvitationInput>) {
  const invitation = await findByToken(ctx, token);
  if (invitation === null || invitation.acceptedAt !== null) return null;
  const { email, role, organization } = invitation;
  return { email, role, inviter: await inviterName(invitation), organization: organization.name };
}
