import type { Context } from '../../../../context.ts';
import type { ScimResource } from '../../../foundation/scim-user/attributes.ts';
import { resourceOf } from '../../../foundation/scim-user/resource.ts';
import type { Entry } from '../../../tenancy/scim-records/record.ts';
import { baseOf } from '../base.ts';
import { etag, viewScimUser } from '../view.ts';

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
