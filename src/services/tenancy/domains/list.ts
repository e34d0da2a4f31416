import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Domain } from '../../../database/models/domain.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { readPage } from '../../foundation/page.ts';
import type { listDomainsInput } from './schema.ts';
import { viewDomain } from './view.ts';

/** The organization's domains, with the records that prove them. */
export async function listDomains(ctx: Context, input: z.output<typeof listDomainsInput>) {
  const { organization } = await requireAuthority(ctx, 'domains.see', input.org);
  return readPage(
    input,
    (after, limit) =>
      Domain.findAll({
        where: { organizationId: organization.id, id: { [Op.gt]: after } },
        order: ['id'],
        limit,
      }),
    (row) => row.id,
    viewDomain,
  );
}
