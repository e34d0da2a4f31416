import { type CreationOptional, type NonAttribute, Op, type Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';
import type { OrgRole } from './membership.ts';
import type { Project, ProjectRole } from './project.ts';

/** Maps a group to a role in a project (spec §2.3) or in the organization. */
export class GroupMapping extends Row<GroupMapping> {
  declare id: string;
  declare organizationId: string;
  /** Null, like `role`, if the mapping gives a role in the organization. */
  declare projectId: CreationOptional<string | null>;
  /** The group's name exactly as its source sends it. */
  declare group: string;
  declare role: CreationOptional<ProjectRole | null>;
  declare orgRole: CreationOptional<OrgRole | null>;
  declare createdAt: Date;
  /** Present only if the query included it. Null if the mapping has no project. */
  declare project: NonAttribute<Project | null>;
}

/** Binds the model to the open database. */
export function initGroupMapping(sequelize: Sequelize): void {
  GroupMapping.init(
    {
      id: column.key(),
      organizationId: column.to('organizations'),
      projectId: column.optional(column.to('projects')),
      group: { ...column.string(), field: 'group_name' },
      role: column.optional(column.string()),
      createdAt: column.date(),
      orgRole: column.optional(column.string()),
    },
    table(sequelize, 'group_mappings', [
      column.unique('group_mappings_triple', ['project_id', 'role', 'group_name']),
      column.index('group_mappings_organization_id', ['organization_id', 'id']),
      column.index('group_mappings_group_name', ['organization_id', 'group_name']),
      column.unique('group_mappings_org_role', ['organization_id', 'org_role', 'group_name'], {
        org_role: { [Op.ne]: null },
      }),
    ]),
  );
}
