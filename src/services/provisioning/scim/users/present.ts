import type { Context } from '../../../../context.ts';
import { Refusal } from '../../../../errors.ts';
import type { ScimResource } from '../../../foundation/scim-user/attributes.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import { resourceOf } from '../../../foundation/scim-user/resource.ts';
import type { Entry } from '../../../tenancy/scim-records/record.ts';
import { baseOf, etag, type Projection, viewScimUser } from '../view.ts';

// The input of the SCIM operations. The table of attributes reads their bodies, not a schema (X6).

/** A request about the Users of an organization, named by its id. */
export interface AtUsers extends Projection {
  org: string;
}

/** A request about one User. */
export interface AtUser extends AtUsers {
  id: string;
  /** The `If-Match` of the request, if it has one. */
  ifMatch?: string | undefined;
}

/** A User as the SCIM API sends it. */
export interface Presented {
  body: ScimResource;
  etag: string;
  location: string;
}

/** The record as its client sees it. */
export function presentUser(
  ctx: Context,
  record: Entry,
  project: (view: ScimResource) => ScimResource,
): Presented {
  const { id, active, createdAt, modifiedAt, version } = record;
  const location = `${baseOf(ctx, record.organizationId)}/Users/${id}`;
  const view = viewScimUser(resourceOf(record), {
    id,
    active,
    createdAt,
    modifiedAt,
    version,
    location,
  });
  return { body: project(view), etag: etag(version), location };
}

/** Refuses if `If-Match` names only other versions (RFC 7644 §3.14). */
export function requireMatch(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined || namesTag(ifMatch, etag(version))) return;
  throw new Refusal('version_mismatch', 'The User has changed since.', {
    hint: 'Read it again and send the new meta.version.',
  });
}

/** Whether the header, entity tags or `*`, names this tag. Weak and strong tags count alike. */
export function namesTag(header: string, tag: string): boolean {
  return header.split(',').some((named) => named.trim() === '*' || opaque(named) === opaque(tag));
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//i, '').replace(/^"|"$/g, '');
}

/** The refusal of a name or address that another User of the organization has. */
export function notUnique(userName: string): Refusal {
  return scimRefusal(409, 'uniqueness', `There is a User ${userName.slice(0, 200)} already.`);
}
