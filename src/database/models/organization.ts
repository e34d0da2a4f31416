import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** An organization. It has members, verified domains and connections. */
export class Organization extends Row<Organization> {
  declare id: string;
  /** Lower case, unique, and never in UUID format. */
  declare slug: string;
  declare name: string;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initOrganization(sequelize: Sequelize): void {
  Organization.init(
    {
      id: column.key(),
      slug: column.string(),
      name: column.string(),
      createdAt: column.date(),
    },
    table(sequelize, 'organizations', [column.unique('organizations_slug', ['slug'])]),
  );
}
