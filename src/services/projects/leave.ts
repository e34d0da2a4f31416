import { Project } from '../../database/models/project.ts';
import { ProjectMembership } from '../../database/models/project-membership.ts';

/**
 * Drops what the account has in the organization's projects. Call it after the organization's own membership was
 * dropped in the same transaction: whoever gives out project memberships holds that row.
 */
export async function leaveProjects(organizationId: string, accountId: string): Promise<void> {
  const left = await ProjectMembership.findAll({
    where: { accountId },
    include: { model: Project, as: 'project', required: true, where: { organizationId } },
  });
  await ProjectMembership.destroy({
    where: { accountId, projectId: left.map(({ projectId }) => projectId) },
  });
}
