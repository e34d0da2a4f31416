import { z } from 'zod';
import { id, instant, name, projectRole, ref, slug, userRef } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';
import { memberView, originView } from '../memberships/schema.ts';

const project = ref;

export const listProjectsInput = z.strictObject({ org: ref, ...pageInput });
export const createProjectInput = z.strictObject({ org: ref, name, slug: slug.optional() });
export const projectRefInput = z.strictObject({ org: ref, project });
export const renameProjectInput = z.strictObject({ org: ref, project, name });
export const listProjectMembersInput = z.strictObject({ org: ref, project, ...pageInput });
export const projectMemberRefInput = z.strictObject({ org: ref, project, user: userRef });
export const putProjectMemberInput = projectMemberRefInput.extend({ role: projectRole });

export const projectView = z.object({
  id,
  slug: z.string(),
  name: z.string(),
  role: projectRole.optional(),
  members: z.int().describe('How many belong to it.'),
  createdAt: instant,
});
export const projectPage = pageOf(projectView);

export const projectMemberView = memberView.extend({
  role: projectRole,
  synced: z.boolean().describe('Whether group sync made it and may change it.'),
  origin: originView,
});
export const projectMemberPage = pageOf(projectMemberView);

/** A membership that something would touch. */
export const affectedMembershipView = z.object({ user: z.string(), project: z.string(), role: projectRole });
