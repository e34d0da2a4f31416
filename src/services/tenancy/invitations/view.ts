import type { Invitation } from '../../../database/models/invitation.ts';

/** An invitation as the organization's admins see it. */
export function viewInvitation({ id, email, role, expiresAt }: Invitation) {
  return { id, email, role, expiresAt: expiresAt.toISOString() };
}
