import type { z } from 'zod';
import type { mappingRemovedView, mappingView } from './view.ts';

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
