import type { Sequelize } from 'sequelize';
import {
  index,
  instantColumn,
  integer,
  key,
  optional,
  Row,
  table,
  textColumn,
  to,
} from './columns.ts';

/** One of the latest requests of an organization's SCIM client, without its body and its query. */
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
      id: key(),
      organizationId: to('organizations'),
      at: instantColumn(),
      method: textColumn(),
      path: textColumn(),
      status: integer(),
      reason: optional(textColumn()),
    },
    table(sequelize, 'scim_requests', [
      index('scim_requests_organization_id', ['organization_id', 'id']),
      index('scim_requests_at', ['at']),
    ]),
  );
}
