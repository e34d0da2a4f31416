import { z } from 'zod';
import type { Account } from '../../../database/models/account.ts';
import type { Project, ProjectRole } from '../../../database/models/project.ts';
import type { ProjectMembership } from '../../../database/models/project-membership.ts';
import { selectAmong } from '../../../database/select.ts';
import { type Shown, shownTo } from '../../foundation/authority/shown.ts';
import { id, instant, projectRole } from '../../foundation/fields.ts';
import { memberView, originView } from '../memberships/membership.ts';

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
  synced: z.boolean().describe('Whether group sync made the membership and may change it.'),
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
  const rows = await readSynced(organizationId, 'by', [connectionId]);
  return (await viewSynced(organizationId, rows)).map(({ user, project = '', role }) => {
    return { user, project, role };
  });
}

/** The memberships that each of these mappings has given, by mapping id. */
export async function findGiven(
  organizationId: string,
  mappingIds: string[],
): Promise<Map<string, Synced[]>> {
  const inProjects = await readSynced(organizationId, 'mappingId', mappingIds);
  const inOrganization = await selectAmong<SyncedRow>(
    mappingIds,
    (list, organization) => `SELECT a.id, a.email, a.name, m.role, m.origin ->> 'mappingId' AS cause
       FROM memberships m JOIN accounts a ON a.id = m.account_id
      WHERE m.origin ->> 'mappingId' IN (${list}) AND m.organization_id = ${organization}
        AND m.synced ORDER BY m.account_id`,
    [organizationId],
  );
  const synced = await viewSynced(organizationId, [...inProjects, ...inOrganization]);
  const byMapping = Map.groupBy(synced, ({ cause }) => cause);
  return new Map([...byMapping].map(([id, some]) => [id, some.map(({ cause: _, ...one }) => one)]));
}

interface SyncedRow extends Pick<Account, 'id' | 'email' | 'name'> {
  project?: string;
  role: ProjectRole;
  cause: string;
}

function readSynced(
  organizationId: string,
  part: 'by' | 'mappingId',
  causes: string[],
): Promise<SyncedRow[]> {
  const cause = `m.origin ->> '${part}'`;
  return selectAmong<SyncedRow>(
    causes,
    (list, org) => `SELECT a.id, a.email, a.name, p.slug AS project, m.role, ${cause} AS cause
       FROM project_memberships m
       JOIN projects p ON p.id = m.project_id
       JOIN accounts a ON a.id = m.account_id
      WHERE ${cause} IN (${list}) AND p.organization_id = ${org} AND m.synced
      ORDER BY m.project_id, m.account_id`,
    [organizationId],
  );
}

/** The memberships, with each person as the organization sees them (security I4). */
async function viewSynced(organizationId: string, rows: SyncedRow[]) {
  const shown = await shownTo(organizationId, rows);
  return rows.map(({ project, role, cause, ...account }) => {
    const { email, name } = shown(account);
    return { user: email ?? name, ...(project === undefined ? {} : { project }), role, cause };
  });
}
