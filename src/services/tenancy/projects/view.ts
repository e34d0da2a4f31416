import type { Project, ProjectRole } from '../../../database/models/project.ts';
import type { ProjectMembership } from '../../../database/models/project-membership.ts';
import type { Shown } from '../../foundation/authority/shown.ts';

/** A project as others see it, with how many belong to it and the role of the person who asks, if they have one. */
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
