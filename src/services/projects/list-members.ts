import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { ProjectMembership } from '../../database/models/project-membership.ts';
import { requireProjectAuthority } from '../authority/require.ts';
import { readPage } from '../page.ts';
import type { listProjectMembersInput } from './schema.ts';
import { viewProjectMember } from './view.ts';

/** Who belongs to the project, and how each came to. */
export async function listProjectMembers(ctx: Context, input: z.output<typeof listProjectMembersInput>) {
  const { project } = await requireProjectAuthority(ctx, 'projectMembers.see', input);
  return readPage(
    input,
    (after, limit) =>
      ProjectMembership.findAll({
        where: { projectId: project.id, accountId: { [Op.gt]: after } },
        include: { model: Account, as: 'account', required: true },
        order: ['accountId'],
        limit,
      }),
    (row) => row.accountId,
    (row) => viewProjectMember(row, row.account),
  );
}
