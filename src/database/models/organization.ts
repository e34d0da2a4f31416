import type { Sequelize } from 'sequelize';
import { instantColumn, key, Row, table, textColumn, unique } from './columns.ts';

/** A workspace: it has members, verified domains and connections. */
export class Organization extends Row<Organization> {
  declare id: string;
  /** Lower case, unique, and never in the form of a UUID. */
  declare slug: string;
  declare name: string;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initOrganization(sequelize: Sequelize): void {
  Organization.init(
    {
      id: key(),
      slug: textColumn(),
      name: textColumn(),
      createdAt: instantColumn(),
    },
    table(sequelize, 'organizations', [unique('organizations_slug', ['slug'])]),
  );
}
