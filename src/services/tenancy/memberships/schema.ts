import { z } from 'zod';
import { originKinds } from '../../../database/models/membership.ts';
import { email, id, instant, ref, role, userRef } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';

export const listMembersInput = z.strictObject({ org: ref, ...pageInput });
export const addMemberInput = z.strictObject({ org: ref, email, role });
/** What becomes of credentials on an account whose address was never verified (security I3). */
export const credentialsFate = z.enum(['end', 'keep']);
export const operatorAddsMemberInput = addMemberInput.extend({ credentials: credentialsFate.optional() });
export const memberRefInput = z.strictObject({ org: ref, user: userRef });
export const leaveOrganizationInput = z.strictObject({ org: ref });
export const changeMemberRoleInput = z.strictObject({ org: ref, user: userRef, role });

export const originView = z.object({
  kind: z.enum(originKinds),
  by: z.string().optional().describe('The account or connection that did it.'),
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
