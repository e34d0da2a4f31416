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

/** One of the last requests of an organization's SCIM client; neither its body nor its query is in it. */
export class ScimRequest extends Row<ScimRequest> {
  declare id: string;
  declare organizationId: string;
  declare at: Date;
  declare method: string;
  declare path: string;
  declare status: number;
  /** Why it was refused; null when it was not. */
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
