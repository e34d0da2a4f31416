import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { Organization } from '../../../database/models/organization.ts';
import { hashInvitationToken } from './token.ts';

/** What an invitation is that can still be accepted. */
export function waiting(ctx: Pick<Context, 'now'>) {
  return { acceptedAt: null, expiresAt: { [Op.gt]: ctx.now } };
}

/** The invitation of this token with its organization, accepted or not, unless its time is over. */
export function findByToken(ctx: Context, token: string): Promise<Invitation | null> {
  return Invitation.findOne({
    where: { tokenHash: hashInvitationToken(token), expiresAt: { [Op.gt]: ctx.now } },
    include: { model: Organization, as: 'organization', required: true },
  });
}
