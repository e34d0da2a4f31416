import { Op, type WhereOptions } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Membership } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { requireUser } from '../../foundation/authority/require.ts';
import { readPage } from '../../foundation/page.ts';
import type { listOrganizationsInput } from './schema.ts';
import { viewOrganization } from './view.ts';

/** The organizations of the person who asks, with their roles; for the operator, all there are. */
export async function listOrganizations(ctx: Context, input: z.output<typeof listOrganizationsInput>) {
  if (ctx.actor.kind === 'operator') return listAll(input);
  const { accountId } = requireUser(ctx, 'organizations.list');
  return readPage(
    input,
    (after, limit) =>
      Membership.findAll({
        where: { accountId, organizationId: { [Op.gt]: after } },
        include: { model: Organization, as: 'organization', required: true },
        order: ['organizationId'],
        limit,
      }),
    (row) => row.organizationId,
    (row) => viewOrganization(row.organization, row.role),
  );
}

function listAll(input: z.output<typeof listOrganizationsInput>) {
  return readPage(
    input,
    (after, limit) => {
      const where: WhereOptions = { id: { [Op.gt]: after } };
      return Organization.findAll({ where, order: ['id'], limit });
    },
    (row) => row.id,
    (row) => viewOrganization(row),
  );
}
