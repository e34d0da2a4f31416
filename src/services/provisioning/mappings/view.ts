import { z } from 'zod';
import type { GroupMapping } from '../../../database/models/group-mapping.ts';
import type { Project } from '../../../database/models/project.ts';
import { id, projectRole } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';
import { affectedMembershipView } from '../../tenancy/projects/view.ts';

/** A group's name exactly as sent: case, spaces and commas matter (security I7). */
export const groupName = z
  .string()
  .min(1, 'must not be empty')
  .refine((text) => [...text].length <= 256, 'must have at most 256 characters');

export const projectOfMapping = z.object({ id, slug: z.string() });

export const mappingView = z.object({
  id,
  group: z.string(),
  project: projectOfMapping,
  role: projectRole,
});
export const mappingPage = pageOf(mappingView);

/** A removed mapping, with the memberships that it gave. */
export const mappingRemovedView = mappingView.extend({ affected: z.array(affectedMembershipView) });

export const importedView = z.object({
  added: z.array(mappingView),
  kept: z.int(),
  removed: z.array(mappingRemovedView),
});

type Viewed = Pick<GroupMapping, 'id' | 'group' | 'role'> & {
  project: Pick<Project, 'id' | 'slug'>;
};

/** A mapping with its project, which the query must include. */
export function viewMapping({ id, group, role, project }: Viewed) {
  return { id, group, project: { id: project.id, slug: project.slug }, role };
}
