import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/**
 * How often a record has gone from the midst of an organization's list, or come back into it: whoever remembers places
 * in the list remembers this number with them.
 */
class ScimShift extends Model<InferAttributes<ScimShift>, InferCreationAttributes<ScimShift>> {
  declare organizationId: string;
  declare count: number;
}

/** Binds the model to the open database. */
export function initScimShift(sequelize: Sequelize): void {
  ScimShift.init(
    {
      organizationId: {
        type: DataTypes.UUID,
        allowNull: false,
        primaryKey: true,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      count: { type: DataTypes.INTEGER, allowNull: false },
    },
    { sequelize, tableName: 'scim_shifts', underscored: true, timestamps: false },
  );
}
