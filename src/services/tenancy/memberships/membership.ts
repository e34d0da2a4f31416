import { Op } from 'sequelize';
import { z } from 'zod';
import { isConnectionKind } from '../../../connection-kinds.ts';
import type { Actor } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { Account } from '../../../database/models/account.ts';
import {
  Membership,
  type Origin,
  originKinds,
  type Role,
} from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import type { Next } from '../../../next.ts';
import { type Shown, shownIn } from '../../foundation/authority/shown.ts';
import { id, instant, isUuid, role } from '../../foundation/fields.ts';

export const originView = z.object({
  kind: z.enum(originKinds),
  by: z.string().optional().describe('The account, connection or provider that added the member.'),
  source: z.literal('scim').optional().describe('The group is one that SCIM pushed.'),
  group: z.string().optional(),
  mappingId: id.optional(),
});

export const memberView = z.object({
  userId: id,
  email: z.string().nullable(),
  name: z.string(),
  role,
  synced: z.boolean().describe('Whether a mapping, or SCIM, SSO or LDAP, gave the role.'),
  origin: originView,
  joinedAt: instant,
});

/** What a view of a member shows of the membership. */
export type MemberFacts = Pick<Membership, 'accountId' | 'role' | 'synced' | 'origin' | 'joinedAt'>;

/** A member as the organization sees them. */
export function viewMember(membership: MemberFacts, { email, name }: Shown) {
  const { accountId: userId, role, synced, joinedAt } = membership;
  const origin = originOfRole(membership);
  return { userId, email, name, role, synced, origin, joinedAt: joinedAt.toISOString() };
}

/** How the membership began. While the role is synced, also the group that gave it. */
export function originOfRole({ synced, origin }: Pick<Membership, 'synced' | 'origin'>): Origin {
  if (synced) return origin;
  const { group: _, mappingId: __, source: ___, ...began } = origin;
  return began;
}

/** Whether a new membership with this origin has a synced role. */
export function isSyncedBy({ kind }: Origin): boolean {
  return kind === 'scim' || isConnectionKind(kind);
}

/**
 * The member with this id or address, as the organization sees the member; refuses with
 * `not_found`. Locks the account and the membership.
 */
export async function holdMembership(organization: Organization, user: string) {
  const found = await Account.findOne({ where: isUuid(user) ? { id: user } : { email: user } });
  const account = found && (await hold.account(found.id));
  const key = account && { organizationId: organization.id, accountId: account.id };
  const membership = key && (await hold.membership(key, 'whole'));
  if (account === null || membership === null) throw notMember(organization, user);
  return { membership, account, shown: await shownIn(organization.id, account) };
}

/** Like `holdMembership`, but without locks. */
export async function findMembership(organization: Organization, user: string) {
  const membership = await Membership.findOne({
    where: { organizationId: organization.id },
    include: {
      model: Account,
      as: 'account',
      where: isUuid(user) ? { id: user } : { email: user },
    },
  });
  if (membership === null) throw notMember(organization, user);
  return { membership, shown: await shownIn(organization.id, membership.account) };
}

function notMember({ slug }: Organization, user: string): Refusal {
  return new Refusal('not_found', `${user} is not a member of ${slug}.`);
}

/** Whether the account belongs to the organization. */
export async function isMember(organizationId: string, accountId: string): Promise<boolean> {
  return (await Membership.count({ where: { organizationId, accountId } })) > 0;
}

/** The right that an actor needs to grant this role in an organization. */
export function rightToGrant(role: Role) {
  if (role === 'owner') return 'members.grantOwner';
  return role === 'admin' ? 'members.grantAdmin' : 'members.change';
}

/** The origin of a membership that this actor creates manually. */
export function byHand(actor: Actor): Origin {
  return actor.kind === 'user' ? { kind: 'manual', by: actor.accountId } : { kind: 'operator' };
}

/**
 * The organization if this account is its only owner; else null. Locks the organization, so that
 * two owners cannot leave at the same time.
 */
export async function holdIfLastOwner(
  organizationId: string,
  accountId: string,
): Promise<Organization | null> {
  const organization = await hold.organization({ id: organizationId }, 'alone');
  if (organization === null) throw new Error('an organization of a member is gone');
  const others = await Membership.count({
    where: { organizationId, role: 'owner', accountId: { [Op.ne]: accountId } },
  });
  return others > 0 ? null : organization;
}

/** Refuses with `last_owner` if this account is the only owner. Locks like `holdIfLastOwner`. */
export async function requireAnotherOwner(
  organizationId: string,
  accountId: string,
  hint?: Next,
): Promise<void> {
  const organization = await holdIfLastOwner(organizationId, accountId);
  if (organization === null) return;
  throw new Refusal('last_owner', `${organization.slug} would be left without an owner.`, {
    hint: hint ?? {
      say: 'Make someone else owner first',
      operation: 'member.role',
      with: { org: organization.slug, role: 'owner' },
    },
  });
}
