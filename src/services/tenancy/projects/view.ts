import { z } from 'zod';
import { Account } from '../../../database/models/account.ts';
import { Project, type ProjectRole } from '../../../database/models/project.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import type { Shown } from '../../foundation/authority/shown.ts';
import { id, instant, projectRole } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';
import { memberView, originView } from '../memberships/membership.ts';

export const projectView = z.object({
  id,
  slug: z.string(),
  name: z.string(),
  role: projectRole.optional(),
  members: z.int().describe('How many belong to it.'),
  createdAt: instant,
});
export const projectPage = pageOf(projectView);

export const projectMemberView = z.object({
  ...memberView.pick({ userId: true, email: true, name: true }).shape,
  role: projectRole,
  synced: z.boolean().describe('Whether group sync made it and may change it.'),
  origin: originView,
  joinedAt: instant,
});
export const projectMemberPage = pageOf(projectMemberView);

/** A membership that a change would affect. */
export const affectedMembershipView = z.object({
  user: z.string(),
  project: z.string(),
  role: projectRole,
});

/** A project, with the number of its members and the caller's role, if any. */
export function viewProject(
  project: Pick<Project, 'id' | 'slug' | 'name' | 'createdAt'>,
  members: number,
  role?: ProjectRole,
) {
  const { id, slug, name, createdAt } = project;
  const own = role === undefined ? {} : { role };
  return { id, slug, name, ...own, members, createdAt: createdAt.toISOString() };
}

/** A member of a project. */
export function viewProjectMember(membership: ProjectMembership, { email, name }: Shown) {
  const { accountId, role, synced, origin, joinedAt } = membership;
  return { userId: accountId, email, name, role, synced, origin, joinedAt: joinedAt.toISOString() };
}

/** A synced membership, in names that people know. */
interface Synced {
  user: string;
  project: string;
  role: ProjectMembership['role'];
}

/** The organization's synced project memberships that `isMeant` accepts. */
export async function findSynced(
  organizationId: string,
  isMeant: (membership: ProjectMembership) => boolean,
): Promise<Synced[]> {
  return (await readSynced(organizationId)).filter(isMeant).map(viewSynced);
}

/** The memberships that each mapping of the organization has given, by mapping id; in one read. */
export async function findGiven(
  organizationId: string,
): Promise<Map<string | undefined, Synced[]>> {
  const given = Map.groupBy(await readSynced(organizationId), ({ origin }) => origin.mappingId);
  return new Map(
    [...given].map(([mappingId, memberships]) => [mappingId, memberships.map(viewSynced)]),
  );
}

function readSynced(organizationId: string): Promise<ProjectMembership[]> {
  return ProjectMembership.findAll({
    where: { synced: true },
    include: [
      { model: Project, as: 'project', required: true, where: { organizationId } },
      { model: Account, as: 'account', required: true },
    ],
    order: ['projectId', 'accountId'],
  });
}

function viewSynced({ account, project, role }: ProjectMembership): Synced {
  return { user: account.email ?? account.name, project: project.slug, role };
}
