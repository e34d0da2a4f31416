import { connectionKindNames } from '../../connection-kinds.ts';
import type { Account } from './account.ts';
import { column, rowOf } from './columns.ts';
import type { Organization } from './organization.ts';

/** The roles in an organization, lowest first. */
export const roles = ['member', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];
/** The roles in the organization that a mapping can give. */
export type OrgRole = Exclude<Role, 'owner'>;

/** The ways a membership can begin. */
export const originKinds = [
  'manual',
  'mapping',
  'scim',
  ...connectionKindNames,
  'social',
  'invitation',
  'operator',
] as const;

/** How a membership began, and what caused it. */
export interface Origin {
  kind: (typeof originKinds)[number];
  /** The account, connection or provider that caused it. */
  by?: string;
  /** `scim` for a role from a SCIM group; absent for a role from a claim. */
  source?: 'scim';
  /** The group and the mapping that gave the role; absent without a mapping. */
  group?: string;
  mappingId?: string;
}

/** An account's membership in an organization. When a membership ends, its row is deleted. */
export class Membership extends rowOf(
  'memberships',
  {
    organizationId: column.key(column.to('organizations')),
    accountId: column.key(column.to('accounts')),
    role: column.string<Role>(),
    origin: column.json<Origin>(),
    joinedAt: column.date(),
    /** Whether SCIM, SSO, LDAP or a mapping gave the role, and it was not edited since. */
    synced: column.withDefault(column.flag(), false),
  },
  () => [
    column.index('memberships_account_id', ['account_id']),
    column.index('memberships_owners', ['organization_id', 'account_id'], { role: 'owner' }),
  ],
) {
  /** Present only if the query included it. */
  declare account: Account;
  /** Present only if the query included it. */
  declare organization: Organization;
}
