import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** Someone taken out of an organization, whom no sign-in may add again (security I5). */
export class Tombstone extends Model<InferAttributes<Tombstone>, InferCreationAttributes<Tombstone>> {
  declare organizationId: string;
  declare accountId: string;
  declare setAt: Date;
}

/** Binds the model to the open database. */
export function initTombstone(sequelize: Sequelize): void {
  Tombstone.init(
    {
      organizationId: {
        type: DataTypes.UUID,
        allowNull: false,
        primaryKey: true,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      accountId: {
        type: DataTypes.UUID,
        allowNull: false,
        primaryKey: true,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      setAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'tombstones',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'tombstones_account_id', fields: ['account_id'] }],
    },
  );
}
