import type { Context } from '../../../../context.ts';
import { transaction } from '../../../../database/transaction.ts';
import { requireScim } from '../../../foundation/authority/require.ts';
import { parseFilter } from '../filter.ts';
import { readFiltered } from '../list/filtered.ts';
import { type ListQuery, readWindow } from '../list/query.ts';
import { type AtUser, type AtUsers, requireMatch } from '../users/present.ts';
import { type Projection, readProjection } from '../view.ts';
import { groupNames } from './attributes.ts';
import { type Group, groupListing, holdGroup, readGroupList, requireGroup } from './group.sql.ts';
import { readGroupPatch, requireOwn } from './patch.ts';
import { presentGroup, viewGroup, writeGroup } from './present.ts';
import { readGroup } from './read.ts';
import { changeGroup, deleteGroup, insertGroup } from './write.ts';

// The Groups of an organization as its SCIM client sees them (RFC 7644 §3).

type Sent = AtUser & { body: unknown };

const projectionOf = (given: Projection) => readProjection(given, groupNames);

/** Lists a page of Groups and the number of matches. The JSON is generated while it is sent. */
export async function listGroupResources(ctx: Context, input: ListQuery) {
  const organizationId = requireScim(ctx, input.org);
  const project = projectionOf(input);
  const { from, count, descending, sortBy } = readWindow(input);
  const filter = input.filter === undefined ? null : parseFilter(input.filter, groupNames);
  const asked = { filter, sortBy, descending, from, count };
  const { total, records } =
    filter === null && sortBy === undefined
      ? await readGroupList(organizationId, { from, count })
      : await readFiltered(groupListing, organizationId, asked);
  return { total, resources: records.map((group) => () => writeGroup(ctx, group, project)) };
}

/** Shows one Group. */
export async function showGroupResource(ctx: Context, input: AtUser) {
  const organizationId = requireScim(ctx, input.org);
  const project = projectionOf(input);
  return presentGroup(ctx, await requireGroup(organizationId, input.id), project);
}

/** Creates a Group. */
export async function createGroupResource(ctx: Context, input: AtUsers & { body: unknown }) {
  const organizationId = requireScim(ctx, input.org);
  const project = projectionOf(input);
  const given = await readGroup(input.body);
  const group = await transaction(() => insertGroup(ctx, organizationId, given));
  return presentGroup(ctx, group, project);
}

/** Replaces a Group. Without `members`, the Group becomes empty. */
export async function replaceGroup(ctx: Context, input: Sent) {
  const project = projectionOf(input);
  requireScim(ctx, input.org);
  // This reads the body before the transaction: a long body would block other writers.
  const { displayName, externalId, members: adds } = await readGroup(input.body);
  const removes = new Set<string>();
  const group = await change(ctx, input, () => ({
    displayName,
    externalId,
    clears: true,
    adds,
    removes,
  }));
  return presentGroup(ctx, group, project);
}

/** Applies all operations to a Group, or none. */
export async function patchGroup(ctx: Context, input: Sent) {
  const project = projectionOf(input);
  requireScim(ctx, input.org);
  const { change: given, repeated } = await readGroupPatch(input.body);
  const group = await change(ctx, input, (held) => {
    requireOwn(repeated, { id: held.id, meta: viewGroup(ctx, held).meta });
    return given;
  });
  return presentGroup(ctx, group, project);
}

async function change(
  ctx: Context,
  input: AtUser,
  read: (group: Group) => Parameters<typeof changeGroup>[2],
): Promise<Group> {
  const organizationId = requireScim(ctx, input.org);
  return transaction(async () => {
    const group = await holdGroup(organizationId, input.id);
    requireMatch(input.ifMatch, group.version, 'Group');
    return changeGroup(ctx, group, read(group));
  });
}

/** Deletes a Group. The roles that only this Group gave to its members end. */
export async function deleteGroupResource(ctx: Context, input: AtUser): Promise<void> {
  const organizationId = requireScim(ctx, input.org);
  await transaction(async () => {
    const group = await holdGroup(organizationId, input.id);
    requireMatch(input.ifMatch, group.version, 'Group');
    await deleteGroup(ctx, group);
  });
}
