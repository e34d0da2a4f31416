import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority, requireOperator } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { waiting } from './find.ts';
import type { invitationRefInput } from './schema.ts';
import { viewInvitation } from './view.ts';

type Input = z.output<typeof invitationRefInput>;

/** Takes back an invitation that was not accepted yet. */
export async function revokeInvitation(ctx: Context, input: Input) {
  const { organization } = await requireAuthority(
    ctx,
    'invitations.change',
    await whichOrganization(ctx, input),
  );
  return transaction(async () => {
    const which = { id: input.id, organizationId: organization.id, ...waiting(ctx) };
    const invitation = await Invitation.findOne({ where: which });
    // Accepted at this moment: the membership is there, and only its removal takes it away.
    if (invitation === null || (await Invitation.destroy({ where: which })) === 0) throw notWaiting(input.id);
    await recordEvent(ctx, {
      kind: 'invitation.revoked',
      organizationId: organization.id,
      subject: { type: 'invitation', id: invitation.id, name: invitation.email },
    });
    return viewInvitation(invitation);
  });
}

async function whichOrganization(ctx: Context, { org, id }: Input): Promise<string> {
  if (org !== undefined) return org;
  requireOperator(ctx);
  const invitation = await Invitation.findByPk(id);
  if (invitation === null) throw notWaiting(id);
  return invitation.organizationId;
}

function notWaiting(id: string): Refusal {
  return new Refusal('not_found', `There is no invitation ${id} that waits.`, {
    hint: 'idctl invitation list --org ORG shows them.',
  });
}
