import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireMembership } from './find.ts';
import { operationFor } from './granting.ts';
import { requireAnotherOwner } from './last-owner.ts';
import type { changeMemberRoleInput } from './schema.ts';
import { viewMember } from './view.ts';

/** Gives a member another role. Only an owner grants or takes the owner role, and the last owner keeps it. */
export async function changeMemberRole(ctx: Context, input: z.output<typeof changeMemberRoleInput>) {
  const { organization } = await requireAuthority(ctx, operationFor(input.role), input.org);
  return transaction(async () => {
    const { membership, account, shown } = await requireMembership(organization, input.user, { hold: true });
    const from = membership.role;
    if (from === 'owner' && input.role !== 'owner')
      await requireAuthority(ctx, 'members.takeOwner', input.org);
    if (from === input.role) return viewMember(membership, shown);
    if (from === 'owner') await requireAnotherOwner(organization.id, account.id);
    await membership.update({ role: input.role });
    await recordEvent(ctx, {
      kind: 'member.role.changed',
      organizationId: organization.id,
      subject: { type: 'user', id: account.id, name: shown.name },
      data: { from, to: input.role },
    });
    return viewMember(membership, shown);
  });
}
