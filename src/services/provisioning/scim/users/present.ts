import type { Context } from '../../../../context.ts';
import { Refusal } from '../../../../errors.ts';
import type { ScimResource } from '../../../foundation/scim-user/attribute.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import { resourceOf } from '../../../foundation/scim-user/resource.ts';
import type { Entry } from '../../../tenancy/scim-records/record.sql.ts';
import { findGroupsOf } from '../groups/members.sql.ts';
import {
  baseOf,
  etag,
  type Projecting,
  type Projection,
  viewScimUser,
  withoutGroups,
} from '../view.ts';

// The input of the SCIM operations. The bodies have no schema: the table of attributes validates
// them (security X6).

/** A request about the Users or Groups of an organization. `org` is the organization's id. */
export interface AtUsers extends Projection {
  org: string;
}

/** A request about one User or Group. */
export interface AtUser extends AtUsers {
  id: string;
  /** The request's `If-Match` header. */
  ifMatch?: string | undefined;
}

/** A User as the SCIM API sends it. */
export interface Presented {
  body: ScimResource;
  etag: string;
  location: string;
}

/** The User as its SCIM client sees it. */
export async function presentUser(
  ctx: Context,
  record: Entry,
  project: Projecting,
): Promise<Presented> {
  const [presented] = await presentUsers(ctx, [record], project);
  if (presented === undefined) throw new Error('the User of a record was not presented');
  return presented;
}

/** Users as their SCIM client sees them. Reads their groups unless the projection hides them. */
export async function presentUsers(
  ctx: Context,
  records: Entry[],
  project: Projecting,
): Promise<Presented[]> {
  const groups = project.shows('groups') ? await readGroupsOf(ctx, records) : new Map();
  return records.map((record) => {
    const view = viewRecord(ctx, record, groups.get(record.id));
    return {
      body: project.of(view),
      etag: etag(record.version, groups.get(record.id)),
      location: locationOf(ctx, record),
    };
  });
}

/** The complete User of a record, with these groups. */
export function viewRecord(ctx: Context, record: Entry, groups: ScimResource[] = []) {
  const { id, active, createdAt, modifiedAt, version } = record;
  const location = locationOf(ctx, record);
  const around = { id, active, createdAt, modifiedAt, version, location, groups };
  return viewScimUser(resourceOf(record), around);
}

function locationOf(ctx: Context, { organizationId, id }: Entry): string {
  return `${baseOf(ctx, organizationId)}/Users/${id}`;
}

async function readGroupsOf(ctx: Context, records: Entry[]): Promise<Map<string, ScimResource[]>> {
  const rows = await findGroupsOf(records.map(({ id }) => id));
  const groups = new Map<string, ScimResource[]>();
  const organizationId = records[0]?.organizationId ?? '';
  for (const { recordId, value, display } of rows) {
    const $ref = `${baseOf(ctx, organizationId)}/Groups/${value}`;
    const known = groups.get(recordId) ?? [];
    known.push({ value, $ref, display, type: 'direct' });
    groups.set(recordId, known);
  }
  return groups;
}

/** Refuses if `If-Match` does not name the current version (RFC 7644 §3.14). */
export function requireMatch(
  ifMatch: string | undefined,
  version: number,
  kind: 'User' | 'Group' = 'User',
): void {
  if (ifMatch === undefined || namesTag(withoutGroups(ifMatch), etag(version))) return;
  throw new Refusal('version_mismatch', `The ${kind} has changed since you read it.`, {
    hint: 'Read the resource again and send the new meta.version.',
  });
}

/** Whether a header with tags or `*` names this tag. Weak and strong tags are compared alike. */
export function namesTag(header: string, tag: string): boolean {
  return header.split(',').some((named) => named.trim() === '*' || opaque(named) === opaque(tag));
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//i, '').replace(/^"|"$/g, '');
}

/** The refusal of a name or address that another User of the organization already has. */
export function notUnique(userName: string): Refusal {
  return scimRefusal(409, 'uniqueness', `A User ${userName.slice(0, 200)} already exists.`);
}
