import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A recent request of an organization's SCIM client, without its body and query. */
export class ScimRequest extends Row<ScimRequest> {
  declare id: string;
  declare organizationId: string;
  declare at: Date;
  declare method: string;
  declare path: string;
  declare status: number;
  /** The reason for a refusal; null after a success. */
  declare reason: string | null;
}

/** Binds the model to the open database. */
export function initScimRequest(sequelize: Sequelize): void {
  ScimRequest.init(
    {
      id: column.key(),
      organizationId: column.to('organizations'),
      at: column.date(),
      method: column.string(),
      path: column.string(),
      status: column.integer(),
      reason: column.optional(column.string()),
    },
    table(sequelize, 'scim_requests', [
      column.index('scim_requests_organization_id', ['organization_id', 'id']),
      column.index('scim_requests_at', ['at']),
    ]),
  );
}
