import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { endMember } from './deactivate.ts';
import { requireMembership } from './find.ts';
import { requireAnotherOwner } from './last-owner.ts';
import type { memberRefInput } from './schema.ts';
import { viewMember } from './view.ts';

/** Takes a member out of the organization until an admin adds them again (security I5). The account stays. */
export async function removeMember(ctx: Context, input: z.output<typeof memberRefInput>) {
  const { organization } = await requireAuthority(ctx, 'members.change', input.org);
  return transaction(async () => {
    const member = await requireMembership(organization, input.user, { hold: true });
    const { membership, account, shown } = member;
    if (membership.role === 'owner') {
      await requireAuthority(ctx, 'members.takeOwner', input.org);
      await requireAnotherOwner(organization.id, account.id);
    }
    await endMember(ctx, organization.id, member);
    return viewMember(membership, shown);
  });
}
