import type { NonAttribute, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';
import type { Project, ProjectRole } from './project.ts';

/** Maps a directory's group to a role in a project (spec §2.3). */
export class GroupMapping extends Row<GroupMapping> {
  declare id: string;
  declare organizationId: string;
  declare projectId: string;
  /** Exactly as the directory sends it. */
  declare group: string;
  declare role: ProjectRole;
  declare createdAt: Date;
  /** Present only if the query included it. */
  declare project: NonAttribute<Project>;
}

/** Binds the model to the open database. */
export function initGroupMapping(sequelize: Sequelize): void {
  GroupMapping.init(
    {
      id: column.key(),
      organizationId: column.to('organizations'),
      projectId: column.to('projects'),
      group: { ...column.string(), field: 'group_name' },
      role: column.string(),
      createdAt: column.date(),
    },
    table(sequelize, 'group_mappings', [
      column.unique('group_mappings_triple', ['project_id', 'role', 'group_name']),
      column.index('group_mappings_organization_id', ['organization_id', 'id']),
    ]),
  );
}
