import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A domain that an organization has claimed or verified (spec §2.1). */
export class Domain extends Row<Domain> {
  declare id: string;
  declare organizationId: string;
  /** In canonical form. */
  declare name: string;
  declare state: 'Pending' | 'Verified';
  declare token: string;
  declare verifiedAt: CreationOptional<Date | null>;
  declare verifiedBy: CreationOptional<'dns' | 'operator' | null>;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initDomain(sequelize: Sequelize): void {
  Domain.init(
    {
      id: column.key(),
      organizationId: column.to('organizations'),
      name: column.string(),
      state: column.string(),
      token: column.string(),
      verifiedAt: column.optional(column.date()),
      verifiedBy: column.optional(column.string()),
      createdAt: column.date(),
    },
    table(sequelize, 'domains', [
      column.unique('domains_organization_name', ['organization_id', 'name']),
      column.unique('domains_verified_name', ['name'], { state: 'Verified' }),
    ]),
  );
}
