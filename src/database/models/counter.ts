import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** How often something happened in a window of time: the attempts that a limit counts, the failures of one event. */
export class Counter extends Model<InferAttributes<Counter>, InferCreationAttributes<Counter>> {
  /** A keyed hash: the table names nobody. */
  declare key: string;
  /** A keyed hash of whom it is about, by which all of theirs are found. */
  declare subject: string;
  /** New with each window. */
  declare windowId: string;
  declare used: number;
  /** How long the window is, in seconds. */
  declare seconds: number;
  /** Seconds since 1970, as is `expiresAt`: a type in which both databases reckon, and that both read as a number. */
  declare beganAt: number;
  /** When the row means nothing any more. */
  declare expiresAt: number;
}

/** Binds the model to the open database. */
export function initCounter(sequelize: Sequelize): void {
  Counter.init(
    {
      key: { type: DataTypes.TEXT, primaryKey: true, allowNull: false },
      subject: { type: DataTypes.TEXT, allowNull: false },
      windowId: { type: DataTypes.UUID, allowNull: false },
      used: { type: DataTypes.INTEGER, allowNull: false },
      seconds: { type: DataTypes.INTEGER, allowNull: false },
      beganAt: { type: DataTypes.DOUBLE, allowNull: false },
      expiresAt: { type: DataTypes.DOUBLE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'counters',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'counters_subject', fields: ['subject'] },
        { name: 'counters_expires_at', fields: ['expires_at'] },
      ],
    },
  );
}
