import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Organization } from '../../../database/models/organization.ts';
import { ScimRequest } from '../../../database/models/scim-request.ts';
import { transaction } from '../../../database/transaction.ts';
import { remembered } from '../../../host/memory.ts';
import { instant, ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';

/** A request of the SCIM client, its status, and the reason if it was refused. */
export const scimRequestView = z.object({
  at: instant,
  method: z.string(),
  path: z.string(),
  status: z.int(),
  reason: z.string().nullable(),
});

/** Lists the latest requests of the organization's SCIM client, newest first. */
export const listScimRequests = operation({
  authority: 'scim.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(scimRequestView),
  run: async (ctx, input, { organization }) => {
    await writeRequests(ctx);
    const rows = { where: { organizationId: organization.id }, newestFirst: true };
    return readRows(ScimRequest, rows, input, ({ at, method, path, status, reason }) => {
      return { at: at.toISOString(), method, path, status, reason };
    });
  },
});

/** A request of a SCIM client, kept for the admin who configures the client. */
interface Noted {
  organizationId: string;
  at: Date;
  method: string;
  path: string;
  status: number;
  /** The reason for a refusal; null after a success. */
  reason: string | null;
}

/** A request in memory. Its id gives its place among the requests. */
type KeptRequest = Noted & { id: string };

/** The latest requests with a valid token and without one, until a job writes them. */
const keptRequests = remembered(() => ({
  accepted: [] as KeptRequest[],
  rejected: [] as KeptRequest[],
}));

const maxUnwritten = 2000;

/**
 * Keeps a request in memory until `writeRequests` stores it, so that requests need not wait.
 * Requests without a valid token are kept apart: strangers can send them, and must not push out the
 * client's requests.
 */
export function noteRequest(process: Pick<Context, 'memory'>, noted: Noted): void {
  const { accepted, rejected } = keptRequests(process);
  const alike = noted.status === 401 ? rejected : accepted;
  alike.push({
    ...noted,
    id: orderedId(),
    method: noted.method.slice(0, 20),
    path: noted.path.slice(0, 300),
    // The reason can quote the client's text, and not every database can store every character.
    reason: noted.reason?.slice(0, 300).toWellFormed().replaceAll('\0', '\ufffd') ?? null,
  });
  if (alike.length > maxUnwritten) alike.shift();
}

// The maximum number of stored requests of each organization: with a valid token, and without.

const maxAccepted = 500;
const maxRejected = 50;

/** Writes the requests kept in memory, with one transaction per organization. */
export async function writeRequests(ctx: Context): Promise<void> {
  const { accepted, rejected } = keptRequests(ctx);
  const noted = [...rejected.splice(0), ...accepted.splice(0)];
  const byOrganization = Map.groupBy(noted, ({ organizationId }) => organizationId);
  for (const id of await findExisting([...byOrganization.keys()])) {
    await transaction(() => write(id, byOrganization.get(id) ?? []));
  }
}

/** The ids of existing organizations: a request without a valid token can name any id. */
async function findExisting(ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const organizations = await Organization.findAll({ where: { id: ids }, attributes: ['id'] });
  return organizations.map(({ id }) => id);
}

async function write(organizationId: string, noted: KeptRequest[]): Promise<void> {
  // The organization may have been deleted in the meantime.
  if ((await Organization.count({ where: { id: organizationId } })) === 0) return;
  const kept = [
    ...noted.filter(isRejected).slice(-maxRejected),
    ...noted.filter((request) => !isRejected(request)).slice(-maxAccepted),
  ];
  await ScimRequest.bulkCreate(kept);
  await dropOldest(organizationId, { status: 401 }, maxRejected);
  await dropOldest(organizationId, { status: { [Op.ne]: 401 } }, maxAccepted);
}

function isRejected({ status }: Pick<Noted, 'status'>): boolean {
  return status === 401;
}

async function dropOldest(organizationId: string, alike: object, max: number): Promise<void> {
  const where = { organizationId, ...alike };
  const surplus = await ScimRequest.findOne({ where, order: [['id', 'DESC']], offset: max });
  if (surplus !== null)
    await ScimRequest.destroy({ where: { ...where, id: { [Op.lte]: surplus.id } } });
}
