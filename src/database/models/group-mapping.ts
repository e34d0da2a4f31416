import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type NonAttribute,
  type Sequelize,
} from 'sequelize';
import type { Project, ProjectRole } from './project.ts';

/** A directory's group that means a role in a project (spec §2.3). */
export class GroupMapping extends Model<
  InferAttributes<GroupMapping>,
  InferCreationAttributes<GroupMapping>
> {
  declare id: string;
  declare organizationId: string;
  declare projectId: string;
  /** Exactly as the directory sends it. */
  declare group: string;
  declare role: ProjectRole;
  declare createdAt: Date;
  /** There when the query included it. */
  declare project: NonAttribute<Project>;
}

/** Binds the model to the open database. */
export function initGroupMapping(sequelize: Sequelize): void {
  const to = (model: string) => ({ references: { model, key: 'id' }, onDelete: 'CASCADE' });
  GroupMapping.init(
    {
      id: { type: DataTypes.UUID, allowNull: false, primaryKey: true },
      organizationId: { type: DataTypes.UUID, allowNull: false, ...to('organizations') },
      projectId: { type: DataTypes.UUID, allowNull: false, ...to('projects') },
      group: { type: DataTypes.TEXT, allowNull: false, field: 'group_name' },
      role: { type: DataTypes.TEXT, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'group_mappings',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'group_mappings_triple', unique: true, fields: ['project_id', 'role', 'group_name'] },
        { name: 'group_mappings_organization_id', fields: ['organization_id', 'id'] },
      ],
    },
  );
}
