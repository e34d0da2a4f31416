import { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Domain } from '../../database/models/domain.ts';
import { Membership } from '../../database/models/membership.ts';
import { transaction } from '../../database/transaction.ts';
import { forgetProofs } from '../accounts/forget-proofs.ts';
import { requireAuthority } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { endSessions } from '../sessions/end.ts';
import type { organizationRefInput } from './schema.ts';
import { viewOrganization } from './view.ts';

/** Deletes the organization with its memberships, domains and connections; the accounts stay. */
export async function deleteOrganization(ctx: Context, input: z.output<typeof organizationRefInput>) {
  const { organization } = await requireAuthority(ctx, 'organization.delete', input.org);
  return transaction(async () => {
    // First what a sign-in holds first, then what its session refers to: one that is under way is waited for, and ends.
    const lock = Transaction.LOCK.UPDATE;
    const verified = await Domain.findAll({
      where: { organizationId: organization.id, state: 'Verified' },
      lock,
    });
    await organization.reload({ lock });
    const members = await Membership.count({ where: { organizationId: organization.id } });
    await endSessions(ctx, { organizationId: organization.id });
    await organization.destroy();
    for (const { name } of verified) await forgetProofs(name);
    await recordEvent(ctx, {
      kind: 'organization.deleted',
      organizationId: organization.id,
      subject: { type: 'organization', id: organization.id, name: organization.name },
      data: { members },
    });
    return { ...viewOrganization(organization), members };
  });
}
