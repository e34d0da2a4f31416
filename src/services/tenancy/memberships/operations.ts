import { Op } from 'sequelize';
import { z } from 'zod';
import { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { shownTo } from '../../foundation/authority/shown.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { ref, role, userRef } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, readPage } from '../../foundation/page.ts';
import { isLive } from '../../people/accounts/hold.ts';
import { endMember } from './deactivate.ts';
import { requireMembership } from './find.ts';
import { rightToGrant } from './grant.ts';
import { requireAnotherOwner } from './last-owner.ts';
import { memberPage, memberView, viewMember } from './view.ts';

// Members of an organization; add.ts adds them.

/** Lists the organization's members. */
export const listMembers = operation({
  authority: 'members.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: memberPage,
  run: async (_ctx, input, { organization }) => {
    const { items, nextCursor } = await readPage(
      input,
      (after, limit) =>
        Membership.findAll({
          where: { organizationId: organization.id, accountId: { [Op.gt]: after } },
          include: { model: Account, as: 'account', required: true },
          order: ['accountId'],
          limit,
        }),
      (row) => row.accountId,
      (row) => row,
    );
    const shown = await shownTo(
      organization.id,
      items.map(({ account }) => account),
    );
    return { items: items.map((row) => viewMember(row, shown(row.account))), nextCursor };
  },
});

/** Changes a role. Only an owner grants or takes the owner role, and the last owner keeps it. */
export const changeMemberRole = operation({
  authority: 'members.change',
  prove: (ctx, input) => requireAuthority(ctx, rightToGrant(input.role), input.org),
  input: z.strictObject({ org: ref, user: userRef, role }),
  output: memberView,
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const { membership, account, shown } = await requireMembership(organization, input.user, {
        hold: true,
      });
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
    }),
});

/** Removes a member until an admin adds them again (security I5). The account stays. */
export const removeMember = operation({
  authority: 'members.change',
  input: z.strictObject({ org: ref, user: userRef }),
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const member = await requireMembership(organization, input.user, { hold: true });
      const { membership, account, shown } = member;
      if (membership.role === 'owner') {
        await requireAuthority(ctx, 'members.takeOwner', input.org);
        await requireAnotherOwner(organization.id, account.id);
      }
      await endMember(ctx, organization.id, member);
      return viewMember(membership, shown);
    }),
});

/**
 * Ends the caller's membership, as a removal does (security O8). Returns whether the caller's
 * session has ended with it.
 */
export const leaveOrganization = operation({
  authority: 'members.leave',
  input: z.strictObject({ org: ref }),
  run: async (ctx, _input, { organization }) => {
    const { actor } = ctx;
    if (actor.kind !== 'user') {
      throw new Refusal('conflict', 'The operator is not a member of an organization.', {
        hint: `To remove a member: idctl member remove EMAIL --org ${organization.slug}`,
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
  },
});
