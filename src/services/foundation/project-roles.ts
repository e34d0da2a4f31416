import type { ProjectRole } from '../../database/models/project.ts';

/** The roles of a project from the lowest to the highest rank, and what each grants (spec §2.3). */
export const projectRoles = [
  { role: 'viewer', grants: 'Read-only access.' },
  { role: 'commenter', grants: 'Can comment, cannot change project structure.' },
  { role: 'member', grants: 'Works inside the project: tasks and the board.' },
  { role: 'admin', grants: 'Full control over the project.' },
] as const satisfies { role: ProjectRole; grants: string }[];

/** Whether the first role ranks above the second. */
export function outranks(one: ProjectRole, other: ProjectRole): boolean {
  return rank(one) > rank(other);
}

function rank(role: ProjectRole): number {
  return projectRoles.findIndex((row) => row.role === role) + 1;
}
