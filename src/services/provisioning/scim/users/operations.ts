import type { Context } from '../../../../context.ts';
import { transaction } from '../../../../database/transaction.ts';
import { requireScim } from '../../../foundation/authority/require.ts';
import type { ScimResource } from '../../../foundation/scim-user/attribute.ts';
import { readReplacement } from '../../../foundation/scim-user/resource.ts';
import { isComplex } from '../../../foundation/scim-user/values.ts';
import {
  type Entry,
  requireHeld,
  requireRecord,
} from '../../../tenancy/scim-records/record.sql.ts';
import { changeRecord, leaveGroups } from '../../../tenancy/scim-records/write.sql.ts';
import { parseFilter } from '../filter.ts';
import { readFiltered } from '../list/filtered.ts';
import { userListing } from '../list/listing.sql.ts';
import { readWholeList } from '../list/positions.ts';
import { type ListQuery, readWindow } from '../list/query.ts';
import { applyPatch, type Own } from '../patch.ts';
import { readProjection } from '../view.ts';
import { changeUser, type Decided } from './change.ts';
import { deactivateMember } from './membership.ts';
import {
  type AtUser,
  type Presented,
  presentUser,
  presentUsers,
  requireMatch,
  viewRecord,
} from './present.ts';

const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** Lists a page of the organization's Users, including former members, with the total. */
export async function listUserResources(ctx: Context, input: ListQuery): Promise<ScimResource> {
  const organizationId = requireScim(ctx, input.org);
  const project = readProjection(input);
  const filter = input.filter === undefined ? null : parseFilter(input.filter);
  const { startIndex, ...window } = readWindow(input);
  const { total, records } =
    filter === null && window.sortBy === undefined
      ? await readWholeList(ctx, organizationId, window)
      : await readFiltered(userListing, organizationId, { filter, ...window });
  const presented = await presentUsers(ctx, records, project);
  return {
    schemas: [listSchema],
    totalResults: total,
    startIndex,
    itemsPerPage: records.length,
    Resources: presented.map(({ body }) => body),
  };
}

/** Shows one User (RFC 7644 §3.4.1). */
export async function showUserResource(ctx: Context, input: AtUser): Promise<Presented> {
  const organizationId = requireScim(ctx, input.org);
  const project = readProjection(input);
  return presentUser(ctx, await requireRecord(organizationId, input.id), project);
}

type Sent = AtUser & { body: unknown };

/** Replaces a User (spec §4.3). `active` defaults to true. */
export function replaceUser(ctx: Context, input: Sent): Promise<Presented> {
  return change(ctx, input, (now) => readReplacement(input.body, now));
}

/** Applies all operations to a User, or none (RFC 7644 §3.5.2, spec §4.3). */
export function patchUser(ctx: Context, input: Sent): Promise<Presented> {
  return change(ctx, input, (now, held) => patched(now, input.body, ownOf(ctx, held)));
}

async function change(ctx: Context, input: AtUser, decide: Parameters<typeof changeUser>[3]) {
  const organizationId = requireScim(ctx, input.org);
  const project = readProjection(input);
  return presentUser(ctx, await changeUser(ctx, organizationId, input, decide), project);
}

function ownOf(ctx: Context, record: Entry): Own {
  const { meta } = viewRecord(ctx, record);
  return { id: record.id, meta: isComplex(meta) ? meta : {} };
}

function patched(now: Decided, body: unknown, own: Own): Decided {
  const { resource, active, changed } = applyPatch(now, body, own);
  // `applyPatch` refuses to remove the userName.
  return changed ? ({ ...resource, active } as Decided) : now;
}

/**
 * Deactivates a User, as `active: false` does (spec §4.3). A repeated request does not change
 * anything. Under `scim.deleteMode: remove`, the client no longer sees the User (RFC 7644 §3.6).
 */
export async function deleteUserResource(ctx: Context, { org, id, ifMatch }: AtUser) {
  const organizationId = requireScim(ctx, org);
  const hidden = ctx.config.scim.deleteMode === 'remove';
  await transaction(async () => {
    const held = await requireHeld(organizationId, id);
    requireMatch(ifMatch, held.record.version);
    const wasActive = held.record.active;
    if (wasActive || hidden) await changeRecord(ctx, held.record, { active: false, hidden });
    if (wasActive) await deactivateMember(ctx, held);
    if (hidden) await leaveGroups(ctx, [held.record.id]);
  });
}
