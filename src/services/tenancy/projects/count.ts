import { ProjectMembership } from '../../../database/models/project-membership.ts';

/** How many belong to each of the projects. */
export async function countMembers(projectIds: string[]): Promise<(projectId: string) => number> {
  const counts = await ProjectMembership.count({ where: { projectId: projectIds }, group: ['projectId'] });
  const members = new Map(counts.map(({ projectId, count }) => [projectId, count]));
  return (projectId) => members.get(projectId) ?? 0;
}
