import type { Context } from '../../../../context.ts';
import { type Role, roles } from '../../../../database/models/membership.ts';
import type { Organization } from '../../../../database/models/organization.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { addMember } from '../../../tenancy/memberships/add.ts';
import { rightToGrant } from '../../../tenancy/memberships/membership.ts';
import { removeMember } from '../../../tenancy/memberships/operations.ts';
import { changeRoles, holdMembers, joinTogether } from '../../../tenancy/memberships/together.ts';
import type { Apply } from '../section.ts';

/** The part of the steps with the members of the organization. */
export interface MembersSteps {
  members: {
    add: { accountId: string; email: string; role: Role }[];
    change: { accountId: string; from: Role; role: Role }[];
    remove: { accountId: string; from: Role }[];
  };
}

/** Whether the change lowers a role. */
export function isLower({ from, role }: { from: Role; role: Role }): boolean {
  return roles.indexOf(role) < roles.indexOf(from);
}

/** Adds members and raises roles. */
export const addMembers: Apply<MembersSteps> = async (ctx, organization, { members }) => {
  const { add, change } = members;
  const org = organization.id;
  const granted = add.map(({ role }) => rightToGrant(role));
  for (const right of new Set(granted)) await requireAuthority(ctx, right, org);
  const left = await joinTogether(ctx, organization, add);
  for (const { accountId, email, role } of add)
    if (left.has(accountId)) await addMember(ctx, { org, email, role });
  const raised = change.filter((change) => !isLower(change));
  await performRoles(ctx, organization, raised);
};

/** Removes other members and lowers roles. Then it removes the actor, if the steps do. */
export const removeMembers: Apply<MembersSteps> = async (ctx, organization, { members }) => {
  const { change, remove } = members;
  const org = organization.id;
  const own = ctx.actor.kind === 'user' ? ctx.actor.accountId : null;
  const others = remove.filter(({ accountId }) => accountId !== own);
  for (const { accountId: user } of others) await removeMember(ctx, { org, user });
  await performRoles(ctx, organization, change.filter(isLower));
  if (own !== null && others.length < remove.length) await removeMember(ctx, { org, user: own });
};

async function performRoles(
  ctx: Context,
  organization: Organization,
  changes: MembersSteps['members']['change'],
): Promise<void> {
  if (changes.length === 0) return;
  const org = organization.id;
  for (const right of new Set(changes.map(({ role }) => rightToGrant(role))))
    await requireAuthority(ctx, right, org);
  if (changes.some(({ from }) => from === 'owner'))
    await requireAuthority(ctx, 'members.takeOwner', org);
  const held = await holdMembers(
    organization,
    changes.map(({ accountId }) => accountId),
  );
  await changeRoles(
    ctx,
    organization,
    changes.map(({ accountId, from, role }) => {
      return { who: { id: accountId, name: nameIn(held, accountId) }, from, to: role };
    }),
  );
}

type Held = Awaited<ReturnType<typeof holdMembers>>;

/** The shown name of a held member. */
export function nameIn(held: Held, accountId: string): string {
  const shown = held.get(accountId);
  // The members are held, and the digest shows that nothing has changed.
  if (shown === undefined) throw new Error('a person of the plan is not a member');
  return shown.name;
}
