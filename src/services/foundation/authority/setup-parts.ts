import type { SetupPart } from '../../../database/models/setup-link.ts';
import type { OrganizationRight } from './table.ts';

// The rights of a setup link (security O13). No part may remove, approve or see people.

const rights = {
  domain: ['domains.see', 'domains.change'],
  sso: ['sso.see', 'sso.change', 'sso.test', 'domains.see'],
  ldap: ['ldap.see', 'ldap.change', 'ldap.test', 'domains.see'],
  scim: ['scim.see', 'scim.create'],
} as const satisfies Record<SetupPart, OrganizationRight[]>;

/** All rights of a setup link with these parts. */
export function rightsOfParts(parts: readonly SetupPart[]): ReadonlySet<OrganizationRight> {
  return new Set(['organization.see', ...parts.flatMap((part) => rights[part])]);
}
