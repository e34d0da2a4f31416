import { z } from 'zod';
import type { Project, ProjectRole } from '../../../database/models/project.ts';
import type { ProjectMembership } from '../../../database/models/project-membership.ts';
import { type Shown, shownTo } from '../../foundation/authority/shown.ts';
import { id, instant, projectRole } from '../../foundation/fields.ts';
import { memberView, originView } from '../memberships/membership.ts';
import { findSynced, findSyncedInProjects, type SyncedRow } from './synced.sql.ts';

export const projectView = z.object({
  id,
  slug: z.string(),
  name: z.string(),
  role: projectRole.optional(),
  members: z.int().describe('How many members the project has.'),
  createdAt: instant,
});

export const projectMemberView = z.object({
  ...memberView.pick({ userId: true, email: true, name: true }).shape,
  role: projectRole,
  synced: z.boolean().describe('Whether group sync created the membership and may change it.'),
  origin: originView,
  joinedAt: instant,
});

/** A project membership that a change would affect. */
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

/** A synced membership in a project or, without `project`, in the organization. */
interface Synced {
  user: string;
  project?: string;
  role: ProjectRole;
}

/** The project memberships that a connection has given. */
export async function findGivenBy(organizationId: string, connectionId: string) {
  const rows = await findSyncedInProjects(organizationId, 'by', [connectionId]);
  return (await viewSynced(organizationId, rows)).map(({ user, project = '', role }) => {
    return { user, project, role };
  });
}

/** The memberships that each of these mappings has given, by mapping id. */
export async function findGiven(
  organizationId: string,
  mappingIds: string[],
): Promise<Map<string, Synced[]>> {
  const inProjects = await findSyncedInProjects(organizationId, 'mappingId', mappingIds);
  const inOrganization = await findSynced(organizationId, mappingIds);
  const synced = await viewSynced(organizationId, [...inProjects, ...inOrganization]);
  const byMapping = Map.groupBy(synced, ({ cause }) => cause);
  return new Map([...byMapping].map(([id, some]) => [id, some.map(({ cause: _, ...one }) => one)]));
}

/** The memberships, with each person as the organization sees them (security I4). */
async function viewSynced(organizationId: string, rows: SyncedRow[]) {
  const shown = await shownTo(organizationId, rows);
  return rows.map(({ project, role, cause, ...account }) => {
    const { email, name } = shown(account);
    return { user: email ?? name, ...(project === undefined ? {} : { project }), role, cause };
  });
}
