import type { Sequelize } from 'sequelize';
import { integer, key, Row, table, to } from './columns.ts';

/**
 * How often a record has gone from the midst of an organization's list, or come back into it: whoever remembers places
 * in the list remembers this number with them.
 */
class ScimShift extends Row<ScimShift> {
  declare organizationId: string;
  declare count: number;
}

/** Binds the model to the open database. */
export function initScimShift(sequelize: Sequelize): void {
  ScimShift.init(
    {
      organizationId: key(to('organizations')),
      count: integer(),
    },
    table(sequelize, 'scim_shifts'),
  );
}
