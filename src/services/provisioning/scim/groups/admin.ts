import { z } from 'zod';
import { Account } from '../../../../database/models/account.ts';
import { ScimGroup, ScimGroupMember } from '../../../../database/models/scim-group.ts';
import { ScimRecord } from '../../../../database/models/scim-record.ts';
import { Refusal } from '../../../../errors.ts';
import { readShown } from '../../../foundation/authority/shown.ts';
import { id, instant, isUuid, ref } from '../../../foundation/fields.ts';
import { operation } from '../../../foundation/operation.ts';
import { pageInput, pageOf, readPage } from '../../../foundation/page.ts';
import { scimUserView, viewScimRecord } from '../list/records.ts';
import { requireGroup } from './group.sql.ts';
import { findGroupIds, findIdNamed } from './groups.sql.ts';
import { findMemberIds } from './members.sql.ts';

const idOrName = z.string().min(1, 'must not be empty').max(1000, 'is too long');

// Groups that SCIM pushed, as the organization's admins see them.

export const scimGroupView = z.object({
  id,
  displayName: z.string(),
  externalId: z.string().nullable(),
  members: z.int(),
  updatedAt: instant,
});

/** Lists the groups that the SCIM client pushed, with the number of members of each. */
export const listScimGroups = operation({
  authority: 'scim.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(scimGroupView),
  run: async (_ctx, input, { organization }) => {
    const { items, nextCursor } = await readPage(
      input,
      (after, limit) => findGroupIds(organization.id, after, limit),
      (row) => row.id,
      (row) => row.id,
    );
    const groups = await ScimGroup.findAll({ where: { id: items }, order: ['id'] });
    const views = [];
    // This counts one group at a time, because a large group takes a moment to count.
    for (const group of groups) {
      const members = await ScimGroupMember.count({ where: { groupId: group.id } });
      views.push(viewGroup(group, members));
    }
    return { items: views, nextCursor };
  },
});

function viewGroup({ id, displayName, externalId, modifiedAt }: ScimGroup, members: number) {
  return { id, displayName, externalId, members, updatedAt: modifiedAt.toISOString() };
}

/** Lists the Users in a group that SCIM pushed, including those without a membership. */
export const listScimGroupMembers = operation({
  authority: 'scim.see',
  input: z.strictObject({ org: ref, members: idOrName, ...pageInput }),
  output: pageOf(scimUserView),
  run: async (_ctx, input, { organization }) => {
    const id = await findGroupId(organization.id, input.members);
    const group = await requireGroup(organization.id, id);
    return readShown(
      organization.id,
      input,
      (after, limit) => findMembers(group.id, after, limit),
      (record) => record.id,
      viewScimRecord,
    );
  },
});

async function findGroupId(organizationId: string, named: string): Promise<string> {
  if (isUuid(named)) return named;
  const id = await findIdNamed(organizationId, named);
  if (id !== null) return id;
  throw new Refusal('not_found', `SCIM has not pushed a group ${JSON.stringify(named)}.`, {
    hint: { to: 'list them', operation: 'scim.groups' },
  });
}

async function findMembers(groupId: string, after: string, limit: number) {
  const members = await findMemberIds(groupId, after, limit);
  return ScimRecord.findAll({
    where: { id: members.map(({ id }) => id) },
    include: { model: Account, as: 'account', required: true },
    order: ['id'],
  });
}
