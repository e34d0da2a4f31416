import type { Account } from './account.ts';
import { column, rowOf } from './columns.ts';
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
export class Membership extends rowOf(
  'memberships',
  {
    organizationId: column.key(column.to('organizations')),
    accountId: column.key(column.to('accounts')),
    role: column.string<Role>(),
    origin: column.json<Origin>(),
    joinedAt: column.date(),
    /** SCIM, SSO, LDAP or a mapping gave the role, and no one has edited it since. */
    synced: column.withDefault(column.flag(), false),
  },
  () => [column.index('memberships_account_id', ['account_id'])],
) {
  /** Present only if the query included it. */
  declare account: Account;
  /** Present only if the query included it. */
  declare organization: Organization;
}
