import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type NonAttribute,
  type Sequelize,
} from 'sequelize';

/** A project of an organization; members of the organization belong to it, each with a role. */
export class Project extends Model<InferAttributes<Project>, InferCreationAttributes<Project>> {
  declare id: string;
  declare organizationId: string;
  /** Lower case, unique in the organization, never shaped like a UUID. */
  declare slug: string;
  declare name: string;
  declare createdAt: Date;
  /** There when the query included them. */
  declare memberships?: NonAttribute<{ role: ProjectRole }[]>;
}

/** Binds the model to the open database. */
export function initProject(sequelize: Sequelize): void {
  Project.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      organizationId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      slug: { type: DataTypes.TEXT, allowNull: false },
      name: { type: DataTypes.TEXT, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'projects',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'projects_organization_slug', unique: true, fields: ['organization_id', 'slug'] }],
    },
  );
}

/** The roles of a project (spec §2.3). */
export type ProjectRole = 'viewer' | 'commenter' | 'member' | 'admin';
