import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { hasSecondFactor, isProvedForGood } from '../../../database/models/account.ts';
import { Membership, type Role } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SetupLink } from '../../../database/models/setup-link.ts';
import { insertRows } from '../../../database/select.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import type { Todo } from '../../../next.ts';
import { type Shown, shownTo } from '../../foundation/authority/shown.ts';
import { eventAbout, recordEvents } from '../../foundation/events/record.ts';
import { recordNewMembers } from '../scim-records/member.ts';
import { byHand } from './membership.ts';
import { findPushedAmong } from './memberships.sql.ts';
import { endUnapproved } from './promotion.ts';
import { liftFormerAddresses } from './removed.ts';
import { holdCandidates, holdPeople, liftTombstones } from './together.sql.ts';

// Steps for many members, in few statements.

/**
 * Changes roles manually, with their events. First check the right, and that an owner remains.
 * Refuses with `invite_instead` if an actor other than the operator makes a pushed member an owner.
 */
export async function changeRoles(
  ctx: Context,
  organization: Pick<Organization, 'id' | 'slug'>,
  changes: { who: { id: string; name: string }; from: Role; to: Role }[],
): Promise<void> {
  const { id: organizationId } = organization;
  const owners = changes.filter(({ to }) => to === 'owner').map(({ who }) => who);
  const uninvited = await findUninvited(
    ctx,
    organizationId,
    owners.map(({ id }) => id),
  );
  const first = owners.find(({ id }) => uninvited.has(id));
  if (first !== undefined) {
    const { code, message, hint } = inviteAsOwner(organization, first.name);
    throw new Refusal(code, message, { hint });
  }
  for (const [role, some] of Map.groupBy(changes, ({ to }) => to)) {
    for (let at = 0; at < some.length; at += 1000) {
      const accountId = some.slice(at, at + 1000).map(({ who }) => who.id);
      await Membership.update({ role, synced: false }, { where: { organizationId, accountId } });
      if (role === 'owner') await endUnapproved(ctx, organizationId, accountId);
      else await SetupLink.destroy({ where: { organizationId, accountId } });
    }
  }
  await recordEvents(
    ctx,
    organizationId,
    changes.map(({ who, from, to }) => {
      const data = { from, to };
      return { kind: 'member.role.changed', ...eventAbout('user', who, organizationId), data };
    }),
  );
}

/**
 * Those of the members whom only the operator may make owners without an invitation: `pushedIn`
 * holds for them. An owner of any organization loses the ways to sign in that no owner approved
 * (security I8), so this needs the person's consent (security O8).
 */
export async function findUninvited(
  ctx: Context,
  organizationId: string,
  accountIds: string[],
): Promise<Set<string>> {
  if (ctx.actor.kind === 'operator') return new Set();
  return findPushedAmong(ctx, organizationId, accountIds);
}

/** Why this pushed member cannot become an owner, and what to do. */
export function inviteAsOwner({ slug }: Pick<Organization, 'slug'>, who: string, email?: string) {
  const invite: Todo = {
    say: 'Invite the person instead',
    operation: 'invitation.create',
    with: { email, org: slug, role: 'owner' },
  };
  return {
    code: 'invite_instead' as const,
    message: `SCIM added ${who} with an address that is not on a verified domain of ${slug}. Only an invitation can make this person an owner.`,
    hint: invite,
  };
}

/** Locks members until the transaction ends; returns each as the organization sees them. */
export async function holdMembers(
  { id: organizationId }: Pick<Organization, 'id'>,
  accountIds: string[],
): Promise<Map<string, Shown>> {
  const people = await holdPeople(organizationId, accountIds);
  const shown = await shownTo(organizationId, 'all');
  return new Map(people.map((person) => [person.id, shown(person)]));
}

/**
 * Makes accounts members manually, like `addMember`, and returns the ids of those that it left out.
 * Left-out accounts must join one by one, because joining changes more: the account becomes owner,
 * SCIM knows it, it has a second factor, or its address has no valid verification.
 */
export async function joinTogether(
  ctx: Context,
  organization: Pick<Organization, 'id' | 'slug'>,
  joining: { accountId: string; role: Role }[],
): Promise<Set<string>> {
  const roles = new Map(joining.map(({ accountId, role }) => [accountId, role]));
  const found = await holdCandidates(organization.id, [...roles.keys()]);
  const simple = found.filter(
    (account) =>
      roles.get(account.id) !== 'owner' &&
      isProvedForGood(account) &&
      !hasSecondFactor(account) &&
      account.known === 0,
  );
  const origin = byHand(ctx.actor);
  const rows = simple.map(({ id }) => ({
    organization_id: organization.id,
    account_id: id,
    role: roles.get(id) ?? 'member',
    origin,
    joined_at: ctx.now,
  }));
  await refusingDuplicate(insertRows('memberships', rows), {
    message: `Another admin has just added a member to ${organization.slug}.`,
    hint: { say: 'Plan again', operation: 'plan', with: { org: organization.slug } },
  });
  hold.created(
    'membership',
    simple.map(({ id }) => `${organization.id} ${id}`),
  );
  await liftTombstones(
    organization.id,
    simple.map(({ id }) => id),
  );
  await liftFormerAddresses(
    ctx,
    organization.id,
    simple.map(({ email }) => email),
  );
  await recordNewMembers(organization.id, simple, ctx.now);
  await recordEvents(
    ctx,
    organization.id,
    simple.map((account) => ({
      kind: 'member.added',
      ...eventAbout('user', account, organization.id),
      data: { role: roles.get(account.id) ?? 'member', origin: origin.kind },
    })),
  );
  const joined = new Set(simple.map(({ id }) => id));
  return new Set([...roles.keys()].filter((id) => !joined.has(id)));
}
