import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/transaction.ts';
import { requireAuthority } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { deactivate } from './deactivate.ts';
import { requireMembership } from './find.ts';
import { requireAnotherOwner } from './last-owner.ts';
import type { memberRefInput } from './schema.ts';
import { viewMember } from './view.ts';

/** Takes a member out of the organization until an admin adds them again (security I5). The account stays. */
export async function removeMember(ctx: Context, input: z.output<typeof memberRefInput>) {
  const { organization } = await requireAuthority(ctx, 'members.change', input.org);
  return transaction(async () => {
    const { membership, account, shown } = await requireMembership(organization, input.user, { hold: true });
    if (membership.role === 'owner') {
      await requireAuthority(ctx, 'members.takeOwner', input.org);
      await requireAnotherOwner(organization.id, account.id);
    }
    await deactivate(ctx, organization.id, account);
    await recordEvent(ctx, {
      kind: 'member.removed',
      organizationId: organization.id,
      subject: { type: 'user', id: account.id, name: shown.name },
      data: { role: membership.role },
    });
    return viewMember(membership, shown);
  });
}
