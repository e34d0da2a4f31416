import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { ScimRequest } from '../../../../database/models/scim-request.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { readPage } from '../../../foundation/page.ts';
import type { listScimRequestsInput } from '../schema.ts';
import { writeRequests } from './write.ts';

/** The latest requests of the organization's SCIM client, newest first. */
export async function listScimRequests(
  ctx: Context,
  input: z.output<typeof listScimRequestsInput>,
) {
  const { organization } = await requireAuthority(ctx, 'scim.see', input.org);
  await writeRequests(ctx);
  const before = input.cursor === undefined ? {} : { id: { [Op.lt]: input.cursor } };
  return readPage(
    input,
    (_, limit) =>
      ScimRequest.findAll({
        where: { organizationId: organization.id, ...before },
        order: [['id', 'DESC']],
        limit,
      }),
    ({ id }) => id,
    ({ at, method, path, status, reason }) => ({
      at: at.toISOString(),
      method,
      path,
      status,
      reason,
    }),
  );
}
