import type { ScimRecord } from '../../../database/models/scim-record.ts';

/** A record as plain SQL gives it; SQLite has texts for times and numbers for booleans. */
export interface Row {
  id: string;
  organization_id: string;
  active: boolean | number;
  resource: string;
  version: number;
  created_at: string | Date;
  modified_at: string | Date;
}

/** The columns of it, of `scim_records r`. */
export const columns =
  'r.id, r.organization_id, r.active, r.resource, r.version, r.created_at, r.modified_at';

/** What a record shows of itself. */
export type Visible = Pick<
  ScimRecord,
  'id' | 'organizationId' | 'active' | 'resource' | 'version' | 'createdAt' | 'modifiedAt'
>;

/** The row as a record. */
export function recordOf(row: Row): Visible {
  const { id, resource, version } = row;
  return {
    id,
    organizationId: row.organization_id,
    active: Boolean(row.active),
    resource,
    version,
    createdAt: new Date(row.created_at),
    modifiedAt: new Date(row.modified_at),
  };
}
