import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { requireProjectAuthority } from '../../foundation/authority/require.ts';
import { shownTo } from '../../foundation/authority/shown.ts';
import { readPage } from '../../foundation/page.ts';
import type { listProjectMembersInput } from './schema.ts';
import { viewProjectMember } from './view.ts';

/** Who belongs to the project, and how each came to. */
export async function listProjectMembers(ctx: Context, input: z.output<typeof listProjectMembersInput>) {
  const { organization, project } = await requireProjectAuthority(ctx, 'projectMembers.see', input);
  const { items, nextCursor } = await readPage(
    input,
    (after, limit) =>
      ProjectMembership.findAll({
        where: { projectId: project.id, accountId: { [Op.gt]: after } },
        include: { model: Account, as: 'account', required: true },
        order: ['accountId'],
        limit,
      }),
    (row) => row.accountId,
    (row) => row,
  );
  const shown = await shownTo(
    organization.id,
    items.map(({ account }) => account),
  );
  return { items: items.map((row) => viewProjectMember(row, shown(row.account))), nextCursor };
}
