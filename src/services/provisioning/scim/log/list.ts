import { Op } from 'sequelize';
import { ScimRequest } from '../../../../database/models/scim-request.ts';
import { operation } from '../../../foundation/operation.ts';
import { readPage } from '../../../foundation/page.ts';
import { listScimRequestsInput, scimRequestPage } from '../schema.ts';
import { writeRequests } from './write.ts';

/** The latest requests of the organization's SCIM client, newest first. */
export const listScimRequests = operation({
  authority: 'scim.see',
  input: listScimRequestsInput,
  output: scimRequestPage,
  run: async (ctx, input, { organization }) => {
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
  },
});
