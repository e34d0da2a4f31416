import { z } from 'zod';
import { Account } from '../../../../database/models/account.ts';
import { ScimGroup } from '../../../../database/models/scim-group.ts';
import { ScimRecord } from '../../../../database/models/scim-record.ts';
import { Refusal } from '../../../../errors.ts';
import { readShown, type Shown } from '../../../foundation/authority/shown.ts';
import { id, instant, ref } from '../../../foundation/fields.ts';
import { operation } from '../../../foundation/operation.ts';
import { firstKey, pageInput, pageOf } from '../../../foundation/page.ts';
import { beginning } from './positions.ts';
import { findPlace, findRecordsAfter, type ListPosition } from './records.sql.ts';

/** A User as the organization's SCIM client sees it. */
export const scimUserView = z.object({
  id,
  userName: z.string(),
  externalId: z.string().nullable(),
  email: z.string().nullable(),
  active: z.boolean(),
  updatedAt: instant,
});

/** Lists the Users that the organization's SCIM client sees, including former members. */
export const listScimUsers = operation({
  authority: 'scim.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(scimUserView),
  run: (_ctx, input, { organization }) =>
    readShown(
      organization.id,
      input,
      (after, limit) => findAfter(organization.id, after, limit),
      ({ id }) => id,
      viewScimRecord,
    ),
});

/** Shows whether the SCIM client has written a User or a group; to read is not enough. */
export const showScimWritten = operation({
  authority: 'scim.see',
  input: z.strictObject({ org: ref }),
  output: z.object({ written: z.boolean() }),
  run: async (_ctx, _input, { organization: { id: organizationId } }) => {
    const written =
      (await ScimGroup.findOne({ where: { organizationId }, attributes: ['id'] })) ??
      (await ScimRecord.findOne({
        where: { organizationId, link: ['created', 'attached', 'adopted'] },
        attributes: ['id'],
      }));
    return { written: written !== null };
  },
});

/** The next Users, in the order in which the SCIM client lists them: it has an index. */
async function findAfter(organizationId: string, after: string, limit: number) {
  const position = await positionOf(organizationId, after);
  const ids = await findRecordsAfter(organizationId, position, limit);
  return ScimRecord.findAll({
    where: { id: ids },
    include: { model: Account, as: 'account', required: true },
    order: ['createdAt', 'id'],
  });
}

async function positionOf(organizationId: string, id: string): Promise<ListPosition> {
  if (id === firstKey) return beginning;
  const position = await findPlace(organizationId, id);
  if (position !== null) return position;
  throw new Refusal('invalid_input', 'cursor: must name a User of this organization', {
    hint: 'Begin without a cursor.',
  });
}

/** A record as admins see it, with the e-mail address that the organization sees. */
export function viewScimRecord(record: ScimRecord, { email }: Shown) {
  const { id, userName, externalId, active, modifiedAt } = record;
  return { id, userName, externalId, email, active, updatedAt: modifiedAt.toISOString() };
}
