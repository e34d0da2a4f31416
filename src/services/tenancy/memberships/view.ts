import { z } from 'zod';
import { type Membership, originKinds } from '../../../database/models/membership.ts';
import type { Shown } from '../../foundation/authority/shown.ts';
import { id, instant, role } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';

export const originView = z.object({
  kind: z.enum(originKinds),
  by: z.string().optional().describe('The account or connection that added the member.'),
  group: z.string().optional(),
  mappingId: id.optional(),
});

export const memberView = z.object({
  userId: id,
  email: z.string().nullable(),
  name: z.string(),
  role,
  origin: originView,
  joinedAt: instant,
});
export const memberPage = pageOf(memberView);

/** A member as the organization sees them. */
export function viewMember(membership: Membership, { email, name }: Shown) {
  return {
    userId: membership.accountId,
    email,
    name,
    role: membership.role,
    origin: membership.origin,
    joinedAt: membership.joinedAt.toISOString(),
  };
}
