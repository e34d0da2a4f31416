import { Op } from 'sequelize';
import { column, rowOf } from './columns.ts';
import type { OrgRole } from './membership.ts';
import type { Project, ProjectRole } from './project.ts';

/** Maps a group to a role in a project (spec §2.3) or in the organization. */
export class GroupMapping extends rowOf(
  'group_mappings',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    /** Null, like `role`, if the mapping gives a role in the organization. */
    projectId: column.optional(column.to('projects')),
    /** The group's name as the admin gave it. Groups of a directory match it case-insensitively. */
    group: { ...column.string(), field: 'group_name' },
    role: column.optional(column.string<ProjectRole>()),
    createdAt: column.date(),
    orgRole: column.optional(column.string<OrgRole>()),
  },
  () => [
    column.unique('group_mappings_triple', ['project_id', 'role', 'group_name']),
    column.index('group_mappings_organization_id', ['organization_id', 'id']),
    column.index('group_mappings_group_name', ['organization_id', 'group_name']),
    column.unique('group_mappings_org_role', ['organization_id', 'org_role', 'group_name'], {
      org_role: { [Op.ne]: null },
    }),
  ],
) {
  /** Present only if the query included it. Null if the mapping has no project. */
  declare project: Project | null;
}
