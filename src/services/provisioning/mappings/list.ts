import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { GroupMapping } from '../../../database/models/group-mapping.ts';
import { Project } from '../../../database/models/project.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { readPage } from '../../foundation/page.ts';
import type { listMappingsInput } from './schema.ts';
import { viewMapping } from './view.ts';

/** The organization's group mappings (spec §2.3). */
export async function listMappings(ctx: Context, input: z.output<typeof listMappingsInput>) {
  const { organization } = await requireAuthority(ctx, 'mappings.see', input.org);
  return readPage(
    input,
    (after, limit) =>
      GroupMapping.findAll({
        where: { organizationId: organization.id, id: { [Op.gt]: after } },
        include: { model: Project, as: 'project', required: true },
        order: ['id'],
        limit,
      }),
    (row) => row.id,
    viewMapping,
  );
}
