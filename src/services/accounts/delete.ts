import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Membership } from '../../database/models/membership.ts';
import { transaction } from '../../database/transaction.ts';
import { requireOperator } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { requireAnotherOwner } from '../memberships/last-owner.ts';
import { forgetRecords } from '../scim/records/write.ts';
import { requireAccount } from './find.ts';
import type { userRefInput } from './schema.ts';
import { viewUser } from './view.ts';

/**
 * Deletes an account with its memberships, sessions and outside identities, and frees its address
 * (security O6). Refuses `last_owner` while an organization would be left without one.
 */
export async function deleteUser(ctx: Context, input: z.output<typeof userRefInput>) {
  requireOperator(ctx);
  const account = await requireAccount(input.user);
  await transaction(async () => {
    const owned = await Membership.findAll({ where: { accountId: account.id, role: 'owner' } });
    for (const { organizationId } of owned) await requireAnotherOwner(organizationId, account.id);
    await forgetRecords(account.id);
    await account.destroy();
    await recordEvent(ctx, {
      kind: 'user.deleted',
      subject: { type: 'user', id: account.id, name: account.name },
    });
  });
  return viewUser(ctx, account);
}
