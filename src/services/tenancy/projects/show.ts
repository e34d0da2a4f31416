import type { Context } from '../../../context.ts';
import type { Project } from '../../../database/models/project.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { viewProject } from './view.ts';

/** The view of one project for whoever asks. */
export async function showProject({ actor }: Context, project: Project) {
  const projectId = project.id;
  const members = await ProjectMembership.count({ where: { projectId } });
  const own =
    actor.kind === 'user'
      ? await ProjectMembership.findOne({ where: { projectId, accountId: actor.accountId } })
      : null;
  return viewProject(project, members, own?.role);
}
