import type { CreationOptional, Sequelize } from 'sequelize';
import { instantColumn, key, optional, Row, table, textColumn, to, unique } from './columns.ts';

/** A domain that an organization has claimed or verified (spec §2.1). */
export class Domain extends Row<Domain> {
  declare id: string;
  declare organizationId: string;
  /** Canonical. */
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
      id: key(),
      organizationId: to('organizations'),
      name: textColumn(),
      state: textColumn(),
      token: textColumn(),
      verifiedAt: optional(instantColumn()),
      verifiedBy: optional(textColumn()),
      createdAt: instantColumn(),
    },
    table(sequelize, 'domains', [
      unique('domains_organization_name', ['organization_id', 'name']),
      unique('domains_verified_name', ['name'], { state: 'Verified' }),
    ]),
  );
}
