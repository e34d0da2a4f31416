import { z } from 'zod';
import { Account } from '../../../../database/models/account.ts';
import { ScimGroup } from '../../../../database/models/scim-group.ts';
import { ScimRecord } from '../../../../database/models/scim-record.ts';
import { select } from '../../../../database/select.ts';
import { Refusal } from '../../../../errors.ts';
import { shownTo } from '../../../foundation/authority/shown.ts';
import { id, instant, isUuid, ref } from '../../../foundation/fields.ts';
import { operation } from '../../../foundation/operation.ts';
import { pageInput, pageOf, readPage } from '../../../foundation/page.ts';
import { fold } from '../../../foundation/scim-user/names.ts';
import { scimUserView, viewScimRecord } from '../list/records.ts';
import { requireGroup } from './group.ts';

const idOrName = z.string().min(1, 'must not be empty').max(1000, 'is too long');

// Groups that SCIM pushed, as the organization's admins see them.

export const scimGroupView = z.object({
  id,
  displayName: z.string(),
  externalId: z.string().nullable(),
  members: z.int(),
  updatedAt: instant,
});

/** Lists the groups that the organization's SCIM client pushed, with their numbers of members. */
export const listScimGroups = operation({
  authority: 'scim.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(scimGroupView),
  run: async (_ctx, input, { organization }) => {
    const { items, nextCursor } = await readPage(
      input,
      (after, limit) =>
        select<{ id: string }>(
          'SELECT id FROM scim_groups WHERE organization_id = $1 AND id > $2 ORDER BY id LIMIT $3',
          [organization.id, after, limit],
        ),
      (row) => row.id,
      (row) => row.id,
    );
    const groups = await ScimGroup.findAll({ where: { id: items }, order: ['id'] });
    const views = [];
    for (const group of groups) views.push(viewGroup(group, await countMembers(group.id)));
    return { items: views, nextCursor };
  },
});

function viewGroup({ id, displayName, externalId, modifiedAt }: ScimGroup, members: number) {
  return { id, displayName, externalId, members, updatedAt: modifiedAt.toISOString() };
}

/** Counts one group at a time, as a large group takes a moment. */
async function countMembers(groupId: string): Promise<number> {
  const [row] = await select<{ members: number | string }>(
    'SELECT count(*) AS members FROM scim_group_members WHERE group_id = $1',
    [groupId],
  );
  return Number(row?.members ?? 0);
}

/** Lists the Users in a group that SCIM pushed, including those without a membership. */
export const listScimGroupMembers = operation({
  authority: 'scim.see',
  input: z.strictObject({ org: ref, members: idOrName, ...pageInput }),
  output: pageOf(scimUserView),
  run: async (_ctx, input, { organization }) => {
    const group = await requireGroup(
      organization.id,
      await findGroupId(organization.id, input.members),
    );
    const { items, nextCursor } = await readPage(
      input,
      (after, limit) => findMembers(group.id, after, limit),
      (record) => record.id,
      (record) => record,
    );
    const accounts = items.map(({ account }) => account);
    const shown = await shownTo(organization.id, accounts);
    return {
      items: items.map((record) => viewScimRecord(record, shown(record.account).email)),
      nextCursor,
    };
  },
});

/** The id of the group with this id or display name. */
async function findGroupId(organizationId: string, named: string): Promise<string> {
  if (isUuid(named)) return named;
  const [group] = await select<{ id: string }>(
    'SELECT id FROM scim_groups WHERE organization_id = $1 AND display_name_canonical = $2',
    [organizationId, fold(named)],
  );
  if (group !== undefined) return group.id;
  throw new Refusal('not_found', `SCIM has pushed no group ${JSON.stringify(named)}.`, {
    hint: 'To list them, run: idctl scim groups',
  });
}

async function findMembers(groupId: string, after: string, limit: number) {
  const rows = await select<{ id: string }>(
    `SELECT record_id AS id FROM scim_group_members WHERE group_id = $1 AND record_id > $2
      ORDER BY record_id LIMIT $3`,
    [groupId, after, limit],
  );
  return ScimRecord.findAll({
    where: { id: rows.map(({ id }) => id) },
    include: { model: Account, as: 'account', required: true },
    order: ['id'],
  });
}
