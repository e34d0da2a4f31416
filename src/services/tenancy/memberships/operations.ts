import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { readShown, shownTo } from '../../foundation/authority/shown.ts';
import { id, ref, role, userRef } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { firstKey, pageInput, pageOf } from '../../foundation/page.ts';
import { isLive } from '../../people/accounts/account.ts';
import { tokenView, viewToken } from '../../people/tokens/token.ts';
import { endMember } from './join-and-leave.ts';
import {
  holdMembership,
  memberView,
  requireAnotherOwner,
  rightToGrant,
  viewMember,
} from './membership.ts';
import { findAdminTokens, readMembers } from './memberships.sql.ts';
import { findMembers } from './search.sql.ts';
import { changeRoles } from './together.ts';

// Members of an organization; add.ts adds them.

const listInput = z.strictObject({
  org: ref,
  q: z
    .string()
    .trim()
    .max(60, 'must have at most 60 characters')
    .optional()
    .describe('A part of the first 200 characters of the name or address.'),
  role: role.optional(),
  ...pageInput,
  before: id
    .optional()
    .describe('Reads the page before this member, from `previousCursor`, instead of `cursor`.'),
});

const memberPage = pageOf(memberView).extend({
  previousCursor: z
    .string()
    .nullable()
    // An older daemon does not send it.
    .default(null)
    .describe('The value of `before` for the page before this one; null on the first page.'),
});

/**
 * Lists the organization's members, or those with this role and this text in their name or address.
 * A search looks at 10,000 members for one page, so a page with a `nextCursor` may have few items.
 */
export const listMembers = operation({
  authority: 'members.see',
  input: listInput,
  output: memberPage,
  run: async (_ctx, input, { organization }) => {
    const { ids, ...cursors } = await findPage(organization.id, input);
    const rows = await readMembers(organization.id, ids);
    const shown = await shownTo(organization.id, rows);
    return { items: rows.map((row) => viewMember(row, shown(row))), ...cursors };
  },
});

async function findPage(
  organizationId: string,
  { cursor = firstKey, before, limit, ...by }: z.output<typeof listInput>,
) {
  const back = before !== undefined;
  const from = before ?? cursor;
  const found = await findMembers(organizationId, { ...by, from, back, limit: limit + 1 });
  const ids = found.ids.slice(0, limit);
  const beyond = found.ids.length > limit ? (ids.at(-1) ?? null) : found.end;
  const begin = ids[0] ?? null;
  if (back) return { ids, nextCursor: begin, previousCursor: beyond };
  return { ids, nextCursor: beyond, previousCursor: cursor === firstKey ? null : begin };
}

/**
 * Changes a role. Only owners and the operator may grant or withdraw the owner role. The last owner
 * keeps the role. Only the operator makes a member that SCIM pushed an owner (security O8).
 */
export const changeMemberRole = operation({
  authority: 'members.change',
  prove: (ctx, input) => requireAuthority(ctx, rightToGrant(input.role), input.org),
  // A person may lower their own role.
  letsIn: ({ role }) => role !== 'member',
  input: z.strictObject({ org: ref, user: userRef, role }),
  output: memberView,
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const { membership, account, shown } = await holdMembership(organization, input.user);
      const from = membership.role;
      if (from === 'owner' && input.role !== 'owner')
        await requireAuthority(ctx, 'members.takeOwner', input.org);
      // An edit makes the role manual, even if the role is the same.
      if (from === input.role && membership.synced) await membership.update({ synced: false });
      if (from === input.role) return viewMember(membership, shown);
      if (from === 'owner') await requireAnotherOwner(organization.id, account.id);
      const who = { id: account.id, name: shown.name };
      await changeRoles(ctx, organization, [{ who, from, to: input.role }]);
      return viewMember(await membership.reload(), shown);
    }),
});

/** Removes a member and sets the tombstone (security I5). The account stays. */
export const removeMember = operation({
  authority: 'members.change',
  input: z.strictObject({ org: ref, user: userRef }),
  output: memberView,
  ends: {
    ask: ({ email, name }, { org }) => `Remove ${email ?? name} from ${org}?`,
    done: ({ email, name }, { org }) => `Removed ${email ?? name} from ${org}.`,
  },
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const member = await holdMembership(organization, input.user);
      const { membership, account, shown } = member;
      if (membership.role === 'owner') {
        await requireAuthority(ctx, 'members.takeOwner', input.org);
        await requireAnotherOwner(organization.id, account.id);
      }
      await endMember(ctx, organization.id, member);
      return viewMember(membership, shown);
    }),
});

/** Ends the caller's membership (security O8). Returns whether the session ended with it. */
export const leaveOrganization = operation({
  authority: 'members.leave',
  input: z.strictObject({ org: ref }),
  output: memberView.extend({ signedOut: z.boolean() }),
  ends: {
    ask: (_view, { org }) => `Leave ${org}?`,
    effects: ({ signedOut }) => [
      'You lose access to this organization and its projects. Only its admins can add you again.',
      ...(signedOut ? ['You are signed out, because you signed in through it.'] : []),
    ],
    done: (_view, { org }) => `You left ${org}.`,
  },
  run: async (ctx, _input, { organization }) => {
    const { actor } = ctx;
    if (actor.kind !== 'user') {
      throw new Refusal('conflict', 'The operator is not a member of any organization.', {
        hint: {
          to: 'remove a member',
          operation: 'member.remove',
          with: { org: organization.slug },
        },
      });
    }
    return transaction(async () => {
      const member = await holdMembership(organization, actor.accountId);
      if (member.membership.role === 'owner') {
        const hint = 'Make another member owner first, or delete the organization.';
        await requireAnotherOwner(organization.id, actor.accountId, hint);
      }
      await endMember(ctx, organization.id, member);
      return { ...viewMember(member.membership, member.shown), signedOut: !(await isLive(ctx)) };
    });
  },
});

/** A member's token as the owners of the organization see it, with its account. */
export const memberTokenView = tokenView.extend({
  user: z.object({ id, email: z.string().nullable(), name: z.string() }),
});

/**
 * Lists the members' tokens with scope admin, without their values, oldest first (security P15).
 * Leaves out members that SCIM pushed at addresses on unverified domains (security O8).
 */
export const listAdminTokens = operation({
  authority: 'adminTokens.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(memberTokenView),
  run: (ctx, input, { organization }) =>
    readShown(
      organization.id,
      input,
      (after, limit) => findAfter(ctx, organization.id, after, limit),
      (row) => row.id,
      (row, shown) => ({ ...viewToken(row), user: { id: row.accountId, ...shown } }),
    ),
});

async function findAfter(ctx: Context, organizationId: string, after: string, limit: number) {
  const ids = await findAdminTokens(ctx, organizationId, { after, limit });
  return AccessToken.findAll({
    where: { id: ids },
    include: { model: Account, as: 'account', required: true },
    order: ['id'],
  });
}
