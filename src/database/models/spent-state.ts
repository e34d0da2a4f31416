import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** A sign-in state that came back once already (security S2); kept until it would have expired. */
export class SpentState extends Model<InferAttributes<SpentState>, InferCreationAttributes<SpentState>> {
  declare id: string;
  declare expiresAt: Date;
}

/** Binds the model to the open database. */
export function initSpentState(sequelize: Sequelize): void {
  SpentState.init(
    {
      id: { type: DataTypes.TEXT, primaryKey: true, allowNull: false },
      expiresAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'spent_states',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'spent_states_expires_at', fields: ['expires_at'] }],
    },
  );
}
