import { z } from 'zod';
import type { Invitation } from '../../../database/models/invitation.ts';
import { id, instant, role } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';

export const invitationView = z.object({ id, email: z.string(), role, expiresAt: instant });
export const invitationPage = pageOf(invitationView);

/** The invitation with its token and link, which are shown once. */
export const newInvitationView = invitationView.extend({
  token: z.string(),
  url: z.string(),
  mailed: z.boolean().describe('Whether a mail with the link was queued.'),
  mailLimited: z
    .boolean()
    .describe(
      'Not mailed, because the organization mailed two invitations to this address within a day.',
    ),
  replaced: z.boolean().describe('Whether an earlier invitation of this address no longer works.'),
});

/** The organization that an account became a member of, and its role there. */
export const acceptedView = z.object({
  organization: z.object({ id, slug: z.string(), name: z.string() }),
  role,
});

/** An invitation as the organization's admins see it. */
export function viewInvitation({ id, email, role, expiresAt }: Invitation) {
  return { id, email, role, expiresAt: expiresAt.toISOString() };
}
