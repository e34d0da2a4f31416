import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type NonAttribute,
  type Sequelize,
} from 'sequelize';
import type { Account } from './account.ts';
import type { Origin } from './membership.ts';
import type { Project, ProjectRole } from './project.ts';

/** A member of the organization in one of its projects (spec §2.3). */
export class ProjectMembership extends Model<
  InferAttributes<ProjectMembership>,
  InferCreationAttributes<ProjectMembership>
> {
  declare projectId: string;
  declare accountId: string;
  declare role: ProjectRole;
  /**
   * The specification's marker: group sync made this one and may change it. A column, so that reconcile's writes can
   * be conditional on it; true exactly when the origin's kind is `mapping`.
   */
  declare synced: boolean;
  declare origin: Origin;
  declare joinedAt: Date;
  /** There when the query included it. */
  declare account: NonAttribute<Account>;
  /** There when the query included it. */
  declare project: NonAttribute<Project>;
}

/** Binds the model to the open database. */
export function initProjectMembership(sequelize: Sequelize): void {
  ProjectMembership.init(
    {
      projectId: {
        type: DataTypes.UUID,
        allowNull: false,
        primaryKey: true,
        references: { model: 'projects', key: 'id' },
        onDelete: 'CASCADE',
      },
      accountId: {
        type: DataTypes.UUID,
        allowNull: false,
        primaryKey: true,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      role: { type: DataTypes.TEXT, allowNull: false },
      synced: { type: DataTypes.BOOLEAN, allowNull: false },
      origin: { type: DataTypes.JSON, allowNull: false },
      joinedAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'project_memberships',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'project_memberships_account_id', fields: ['account_id'] }],
    },
  );
}
