import type { z } from 'zod';
import { projectRoles } from '../../../services/foundation/project-roles.ts';
import { memberView } from '../../../services/tenancy/memberships/membership.ts';

/** A member as the operations show them. */
export type Member = z.output<typeof memberView>;

const origins: Record<Member['origin']['kind'], string> = {
  manual: 'Added by an admin',
  mapping: 'Added by a group',
  scim: 'Added by your directory (SCIM)',
  sso: 'Joined with the first single sign-on',
  ldap: 'Joined with the first sign-in through your directory',
  social: 'Joined with Google or GitHub',
  invitation: 'Accepted an invitation',
  operator: 'Added by the operator of this service',
};

/** How the membership began. */
export function originWords({ origin }: Pick<Member, 'origin'>): string {
  return origins[origin.kind];
}

/** Where the role comes from, if a person did not give it; else an empty text. */
export function roleWords({ synced, origin }: Pick<Member, 'synced' | 'origin'>): string {
  if (!synced) return '';
  const { group } = origin;
  return group === undefined
    ? 'The role comes from your directory or provider.'
    : `The role comes from the group ${group}.`;
}

type Role = Member['role'];

/** What each role may do, for the note of a field for a role. */
export const roleNote =
  'Members see the people, and their own projects. Admins change people, projects and settings. Owners can do everything.';

/** The choices of a field for a role: those that the viewer may give. */
export function roleOptions(isGiven: (role: Role) => boolean): Record<string, string> {
  const names: Record<Role, string> = { member: 'Member', admin: 'Admin', owner: 'Owner' };
  const { options } = memberView.shape.role;
  return Object.fromEntries(options.filter(isGiven).map((role) => [role, names[role]]));
}

/** The choices of a field for a role in a project. */
export const projectRoleOptions = Object.fromEntries(
  projectRoles.map(({ role, grants }) => [role, `${role}: ${grants}`]),
);
