import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Project } from '../../../database/models/project.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { isAllowed, requireAuthority } from '../../foundation/authority/require.ts';
import { readPage } from '../../foundation/page.ts';
import { countMembers } from './count.ts';
import type { listProjectsInput } from './schema.ts';
import { viewProject } from './view.ts';

/** The organization's projects: all of them to its admins, to others those that they belong to. */
export async function listProjects(ctx: Context, input: z.output<typeof listProjectsInput>) {
  const { organization, role } = await requireAuthority(ctx, 'projects.see', input.org);
  const own = (accountId: string) => ({
    model: ProjectMembership,
    as: 'memberships',
    where: { accountId },
    required: !isAllowed(role, 'projects.seeAll'),
  });
  return readPage(
    input,
    async (after, limit) => {
      const projects = await Project.findAll({
        where: { organizationId: organization.id, id: { [Op.gt]: after } },
        include: ctx.actor.kind === 'user' ? [own(ctx.actor.accountId)] : [],
        // One membership at most fits each project, so that rows are projects.
        subQuery: false,
        order: ['id'],
        limit,
      });
      const members = await countMembers(projects.map(({ id }) => id));
      return projects.map((project) => ({ project, members: members(project.id) }));
    },
    ({ project }) => project.id,
    ({ project, members }) => viewProject(project, members, project.memberships?.[0]?.role),
  );
}
