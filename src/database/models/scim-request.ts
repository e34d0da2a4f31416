import { column, rowOf } from './columns.ts';

/** A recent request to an organization's SCIM address, without its body and query. */
export class ScimRequest extends rowOf(
  'scim_requests',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    at: column.date(),
    method: column.string(),
    path: column.string(),
    status: column.integer(),
    /** The reason for a refusal; null after a success. */
    reason: column.optional(column.string()),
  },
  () => [
    column.index('scim_requests_organization_id', ['organization_id', 'id']),
    column.index('scim_requests_at', ['at']),
  ],
) {}
