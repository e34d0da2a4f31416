import type { GroupMapping } from '../../../database/models/group-mapping.ts';

/** A mapping with the project it leads to; the query included it. */
export function viewMapping({ id, group, role, project }: GroupMapping) {
  return { id, group, project: { id: project.id, slug: project.slug }, role };
}
