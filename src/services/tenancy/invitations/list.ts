import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { readPage } from '../../foundation/page.ts';
import { waiting } from './find.ts';
import type { listInvitationsInput } from './schema.ts';
import { viewInvitation } from './view.ts';

/** The invitations that can still be accepted, oldest first. */
export async function listInvitations(ctx: Context, input: z.output<typeof listInvitationsInput>) {
  const { organization } = await requireAuthority(ctx, 'invitations.see', input.org);
  return readPage(
    input,
    (after, limit) =>
      Invitation.findAll({
        where: { organizationId: organization.id, ...waiting(ctx), id: { [Op.gt]: after } },
        order: ['id'],
        limit,
      }),
    (row) => row.id,
    viewInvitation,
  );
}
