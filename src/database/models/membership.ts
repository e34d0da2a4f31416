import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';
import type { Organization } from './organization.ts';

/** The roles of an organization, lowest first. */
export const roles = ['member', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];
/** A role in the organization that a mapping can give. */
export type OrgRole = Exclude<Role, 'owner'>;

/** The ways a membership can begin. */
export const originKinds = [
  'manual',
  'mapping',
  'scim',
  'sso',
  'ldap',
  'social',
  'invitation',
  'operator',
] as const;

/** How a membership began, and through what. */
export interface Origin {
  kind: (typeof originKinds)[number];
  /** The account or connection that caused it. */
  by?: string;
  /** For a role that a SCIM group gave; absent for a claim. */
  source?: 'scim';
  /** For a role that a mapping gave: the directory's group and its mapping. */
  group?: string;
  mappingId?: string;
}

/** An account in an organization. An ended membership has no row. */
export class Membership extends Row<Membership> {
  declare organizationId: string;
  declare accountId: string;
  declare role: Role;
  declare origin: Origin;
  declare joinedAt: Date;
  /** SCIM, SSO, LDAP or a mapping gave the role, and no one has edited it since. */
  declare synced: CreationOptional<boolean>;
  /** Present only if the query included it. */
  declare account: NonAttribute<Account>;
  /** Present only if the query included it. */
  declare organization: NonAttribute<Organization>;
}

/** Binds the model to the open database. */
export function initMembership(sequelize: Sequelize): void {
  Membership.init(
    {
      organizationId: column.key(column.to('organizations')),
      accountId: column.key(column.to('accounts')),
      role: column.string(),
      origin: column.json(),
      joinedAt: column.date(),
      synced: column.withDefault(column.flag(), false),
    },
    table(sequelize, 'memberships', [column.index('memberships_account_id', ['account_id'])]),
  );
}
