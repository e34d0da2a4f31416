import { z } from 'zod';
import type { Project, ProjectRole } from '../../../database/models/project.ts';
import type { ProjectMembership } from '../../../database/models/project-membership.ts';
import type { Shown } from '../../foundation/authority/shown.ts';
import { id, instant, projectRole } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';
import { memberView, originView } from '../memberships/view.ts';

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

/** A membership that a change would affect. */
export const affectedMembershipView = z.object({
  user: z.string(),
  project: z.string(),
  role: projectRole,
});

/** A project, with the number of its members and the caller's role, if any. */
export function viewProject(project: Project, members: number, role?: ProjectRole) {
  const { id, slug, name, createdAt } = project;
  return {
    id,
    slug,
    name,
    ...(role === undefined ? {} : { role }),
    members,
    createdAt: createdAt.toISOString(),
  };
}

/** A member of a project. */
export function viewProjectMember(membership: ProjectMembership, { email, name }: Shown) {
  const { accountId, role, synced, origin, joinedAt } = membership;
  return {
    userId: accountId,
    email,
    name,
    role,
    synced,
    origin,
    joinedAt: joinedAt.toISOString(),
  };
}
