import type { z } from 'zod';
import type { mappingRemovedView, mappingView, newMappingView } from './view.ts';

/** A mapping in words, such as `Developers to website as member`. */
export function toldMapping({
  group,
  project,
  role,
  orgRole,
}: Pick<z.output<typeof mappingView>, 'group' | 'project' | 'role' | 'orgRole'>): string {
  return `${group} to ${project?.slug ?? 'the organization'} as ${role ?? orgRole}`;
}

/** The people who have roles from a mapping, as a sentence; empty if there are none. */
export function rolesFrom({ affected }: z.output<typeof mappingRemovedView>): string[] {
  if (affected.length === 0) return [];
  const who = affected.map(({ user, project = 'the organization' }) => `${user} in ${project}`);
  return [`Roles from it: ${who.join(', ')}.`];
}

/** Says when people get the role. A SCIM group whose spelling differs does not give a role. */
export function whenGiven({ group, scimGroup }: z.output<typeof newMappingView>): string {
  if (scimGroup === group)
    return 'Members of the SCIM group have the role now. Others get it at their next sign-in.';
  const like = scimGroup ? `, but ${JSON.stringify(scimGroup)}; upper and lower case differ` : '';
  return `SCIM has not pushed a group ${JSON.stringify(group)}${like}. People get the role at the next sign-in that sends this group.`;
}
