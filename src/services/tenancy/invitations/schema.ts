import { z } from 'zod';
import { email, givenInvitation, id, instant, ref, role } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';

export const createInvitationInput = z.strictObject({ org: ref, email, role: role.default('member') });
export const listInvitationsInput = z.strictObject({ org: ref, ...pageInput });
/** The operator may leave the organization out. */
export const invitationRefInput = z.strictObject({ org: ref.optional(), id });
export const acceptInvitationInput = z.strictObject({ token: givenInvitation });

export const invitationView = z.object({ id, email: z.string(), role, expiresAt: instant });
/** With the token and where to go with it, which are shown once. */
export const newInvitationView = invitationView.extend({
  token: z.string(),
  url: z.string(),
  mailed: z.boolean().describe('Whether a mail with the link was queued.'),
  mailLimited: z
    .boolean()
    .describe(
      'Not mailed, because the organization has had two invitations mailed to this address within a day.',
    ),
  replaced: z.boolean().describe('Whether an earlier invitation of this address no longer works.'),
});
export const invitationPage = pageOf(invitationView);

/** What somebody became a member of. */
export const acceptedView = z.object({
  organization: z.object({ id, slug: z.string(), name: z.string() }),
  role,
});
