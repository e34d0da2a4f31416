import { Op } from 'sequelize';
import type { Context } from '../../../../context.ts';
import { orderedId } from '../../../../crypto/id.ts';
import { Organization } from '../../../../database/models/organization.ts';
import { ScimRequest } from '../../../../database/models/scim-request.ts';
import { transaction } from '../../../../database/transaction.ts';
import type { Noted } from '../../../../scim-memory.ts';

// Bounded, so that nobody fills the disk; and requests without a right token, which strangers can send, by themselves,
// so that they cannot push out those of the client.

const mostAccepted = 500;
const mostRejected = 50;

/** Writes down what was remembered, each organization's in a transaction of its own. */
export async function writeRequests(ctx: Context): Promise<void> {
  const noted = [...ctx.scim.rejected.splice(0), ...ctx.scim.requests.splice(0)];
  const byOrganization = Map.groupBy(noted, ({ organizationId }) => organizationId);
  for (const id of await findExisting([...byOrganization.keys()])) {
    await transaction(() => write(id, byOrganization.get(id) ?? []));
  }
}

/** Those of the ids that are organizations': whoever has no right token can name any, and gets no transaction for it. */
async function findExisting(ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const organizations = await Organization.findAll({ where: { id: ids }, attributes: ['id'] });
  return organizations.map(({ id }) => id);
}

async function write(organizationId: string, noted: Noted[]): Promise<void> {
  // It may have gone in the meantime.
  if ((await Organization.count({ where: { id: organizationId } })) === 0) return;
  const kept = [
    ...noted.filter(isRejected).slice(-mostRejected),
    ...noted.filter((request) => !isRejected(request)).slice(-mostAccepted),
  ].toSorted((a, b) => a.at.getTime() - b.at.getTime());
  await ScimRequest.bulkCreate(kept.map((request) => ({ id: orderedId(), ...request })));
  await dropOldest(organizationId, { status: 401 }, mostRejected);
  await dropOldest(organizationId, { status: { [Op.ne]: 401 } }, mostAccepted);
}

function isRejected({ status }: Noted): boolean {
  return status === 401;
}

async function dropOldest(organizationId: string, alike: object, most: number): Promise<void> {
  const where = { organizationId, ...alike };
  const surplus = await ScimRequest.findOne({ where, order: [['id', 'DESC']], offset: most });
  if (surplus !== null)
    await ScimRequest.destroy({ where: { ...where, id: { [Op.lte]: surplus.id } } });
}
