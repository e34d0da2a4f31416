import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { isLive } from '../../people/accounts/hold.ts';
import { endMember } from './deactivate.ts';
import { requireMembership } from './find.ts';
import { requireAnotherOwner } from './last-owner.ts';
import type { leaveOrganizationInput } from './schema.ts';

/**
 * Ends the membership of the person who asks, as a removal does (security O8). Answers whether the session that asks has
 * ended with it.
 */
export async function leaveOrganization(ctx: Context, input: z.output<typeof leaveOrganizationInput>) {
  const { organization } = await requireAuthority(ctx, 'members.leave', input.org);
  const { actor } = ctx;
  if (actor.kind !== 'user') {
    throw new Refusal('conflict', 'The operator is not a member of an organization.', {
      hint: `To take a member out: idctl member remove EMAIL --org ${organization.slug}`,
    });
  }
  return transaction(async () => {
    const member = await requireMembership(organization, actor.accountId, { hold: true });
    if (member.membership.role === 'owner') {
      const hint = 'Make another member owner first, or delete the organization.';
      await requireAnotherOwner(organization.id, actor.accountId, hint);
    }
    await endMember(ctx, organization.id, member);
    return { signedOut: !(await isLive(ctx)) };
  });
}
