import { Account } from '../../database/models/account.ts';
import { Project } from '../../database/models/project.ts';
import { ProjectMembership } from '../../database/models/project-membership.ts';

/** The synced memberships of the organization's projects that `isMeant` is true of, each with its person and project. */
export async function findSynced(
  organizationId: string,
  isMeant: (membership: ProjectMembership) => boolean,
): Promise<{ user: string; project: string; role: ProjectMembership['role'] }[]> {
  const synced = await ProjectMembership.findAll({
    where: { synced: true },
    include: [
      { model: Project, as: 'project', required: true, where: { organizationId } },
      { model: Account, as: 'account', required: true },
    ],
    order: ['projectId', 'accountId'],
  });
  return synced.filter(isMeant).map(({ account, project, role }) => {
    return { user: account.email ?? account.name, project: project.slug, role };
  });
}
