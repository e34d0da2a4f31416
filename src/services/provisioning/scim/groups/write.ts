import type { Context } from '../../../../context.ts';
import { orderedId } from '../../../../crypto/id.ts';
import { hold } from '../../../../database/hold.ts';
import { ScimGroup } from '../../../../database/models/scim-group.ts';
import { insertRow } from '../../../../database/select.ts';
import { refusingDuplicate } from '../../../../database/unique.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import { isUuid } from '../../../foundation/fields.ts';
import { fold } from '../../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import { replanPeople } from '../../mappings/apply.ts';
import { isMapped } from '../../mappings/replan.sql.ts';
import { maxAtOnce, planLater, planMembersLater } from '../../mappings/replan.ts';
import type { Group } from './group.sql.ts';
import { deleteGroupRow, updateGroup } from './groups.sql.ts';
import {
  accountsOf,
  deleteMembers,
  findMembers,
  findSomeMembers,
  insertMembers,
  readMemberIds,
} from './members.sql.ts';
import type { GroupChange } from './patch.ts';
import type { WrittenGroup } from './read.ts';

// Writes groups. Call each function inside a transaction.

/** Writes a new group, with its event, and recomputes its members' roles. */
export async function insertGroup(
  ctx: Context,
  organizationId: string,
  { displayName, externalId, members }: WrittenGroup,
): Promise<Group> {
  await hold.mappings(organizationId, 'beside');
  await requireRoomForGroup(organizationId);
  const times = { createdAt: ctx.now, modifiedAt: ctx.now };
  const group = { id: orderedId(), organizationId, displayName, externalId, version: 1, ...times };
  const inserting = insertRow('scim_groups', {
    id: group.id,
    organization_id: organizationId,
    display_name: displayName,
    display_name_canonical: fold(displayName),
    external_id: externalId,
    version: 1,
    created_at: ctx.now,
    modified_at: ctx.now,
  });
  await refusingDuplicate(inserting, { message: taken(displayName) });
  const plan = await preparePlan(group, [group], { added: [...members.keys()], removed: [] });
  await insertMembers(group, members);
  await recordEvent(ctx, {
    ...about(group, 'scim.group.created'),
    data: { members: members.size },
  });
  await plan(ctx);
  return group;
}

const taken = (name: string) => `A Group ${name.slice(0, 256)} already exists.`;

/** Changes a locked group, with its event, and recomputes the roles of the people concerned. */
export async function changeGroup(ctx: Context, group: Group, change: GroupChange): Promise<Group> {
  const { displayName = group.displayName, externalId = group.externalId } = change;
  const { added, removed } = await differ(group, change);
  const renamed = displayName !== group.displayName || externalId !== group.externalId;
  if (!renamed && added.size + removed.length === 0) return group;
  const version = group.version + 1;
  const after = { ...group, displayName, externalId, version, modifiedAt: ctx.now };
  const updating = updateGroup(after);
  await refusingDuplicate(updating, { message: taken(displayName) });
  const moved = { added: [...added.keys()], removed };
  const plan = await preparePlan(after, renamed ? [group, after] : [after], moved);
  await deleteMembers(group, removed);
  await insertMembers(group, added);
  await recordEvent(ctx, {
    ...about(after, 'scim.group.updated'),
    data: {
      added: added.size,
      removed: removed.length,
      renamed:
        displayName === group.displayName ? null : { from: group.displayName, to: displayName },
      externalId:
        externalId === group.externalId ? null : { from: group.externalId, to: externalId },
    },
  });
  await plan(ctx);
  return after;
}

/** Deletes a locked group, with its event, and recomputes its members' roles. */
export async function deleteGroup(ctx: Context, group: Group): Promise<void> {
  const removed = await readMemberIds(group);
  const plan = await preparePlan(group, [group], { added: [], removed });
  await deleteMembers(group, removed);
  await deleteGroupRow(group.id);
  await recordEvent(ctx, {
    ...about(group, 'scim.group.deleted'),
    data: { members: removed.length },
  });
  await plan(ctx);
}

function about<Kind extends `scim.group.${string}`>(
  { id, organizationId, displayName: name }: Group,
  kind: Kind,
) {
  return { kind, organizationId, subject: { type: 'scimGroup', id, name } };
}

/** The members that the change actually adds and removes. Only `clears` reads all members. */
async function differ(group: Group, { clears, adds, removes }: GroupChange) {
  const named = [...adds.keys(), ...removes].filter(isUuid);
  const there = new Set(clears ? await readMemberIds(group) : await findMembers(group, named));
  return {
    added: new Map([...adds].filter(([id]) => !there.has(id))),
    removed: [...there].filter((id) => (clears ? !adds.has(id) : removes.has(id))),
  };
}

/**
 * Finds and locks the people whose roles the change may affect. Returns a function that recomputes
 * their roles after the change. If there are more than `maxAtOnce`, the job does it. If no mapping
 * names the group, before or after the change, roles do not change.
 */
async function preparePlan(
  group: Group,
  named: Pick<Group, 'displayName' | 'externalId'>[],
  { added, removed }: { added: string[]; removed: string[] },
): Promise<(ctx: Context) => Promise<void>> {
  const { organizationId } = group;
  const names = named.flatMap(({ displayName, externalId }) => [displayName, externalId ?? []]);
  if (!(await isMapped(organizationId, names.flat()))) return async () => {};
  const moved = [...added, ...removed].filter(isUuid);
  // A rename concerns all members of the group, including those that the push removes.
  const others = named.length > 1 ? await findSomeMembers(group, maxAtOnce + 1) : [];
  const accounts = await accountsOf(organizationId, [...new Set([...moved, ...others])]);
  if (accounts.length <= maxAtOnce) {
    await hold.accounts(accounts);
    return (ctx) => replanPeople(ctx, organizationId, accounts, 'scim').then(() => {});
  }
  // This locks the accounts (foreign key), so it comes before the members, which lock the records.
  if (others.length > 0) await planMembersLater(organizationId, [group.id]);
  await planLater(organizationId, accounts);
  return async () => {};
}

const maxGroups = 1000;

/** Limits the number of groups: a sync and a page of Users read all groups of a person. */
async function requireRoomForGroup(organizationId: string): Promise<void> {
  if ((await ScimGroup.count({ where: { organizationId } })) >= maxGroups)
    throw scimRefusal(400, 'tooMany', `An organization can have at most ${maxGroups} groups.`);
}
