import { Op } from 'sequelize';
import type { Context } from '../../../../context.ts';
import { orderedId } from '../../../../crypto/id.ts';
import { Organization } from '../../../../database/models/organization.ts';
import { ScimRequest } from '../../../../database/models/scim-request.ts';
import { transaction } from '../../../../database/transaction.ts';
import type { Noted } from '../../../../scim-memory.ts';

// Bounded, so that the log cannot fill the disk. Requests without a valid token, which strangers
// can send, are stored separately, so that they cannot displace the client's.

const mostAccepted = 500;
const mostRejected = 50;

/** Writes the remembered requests, each organization's in its own transaction. */
export async function writeRequests(ctx: Context): Promise<void> {
  const noted = [...ctx.scim.rejected.splice(0), ...ctx.scim.requests.splice(0)];
  const byOrganization = Map.groupBy(noted, ({ organizationId }) => organizationId);
  for (const id of await findExisting([...byOrganization.keys()])) {
    await transaction(() => write(id, byOrganization.get(id) ?? []));
  }
}

/**
 * The ids that are organizations. A request without a valid token can name any id, and gets no
 * transaction for it.
 */
async function findExisting(ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const organizations = await Organization.findAll({ where: { id: ids }, attributes: ['id'] });
  return organizations.map(({ id }) => id);
}

async function write(organizationId: string, noted: Noted[]): Promise<void> {
  // The organization may have been deleted in the meantime.
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
