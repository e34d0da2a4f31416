import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** A daemon that runs, as it tells the commands; the row goes when it stops, and counts for nothing once it is old. */
export class Daemon extends Model<InferAttributes<Daemon>, InferCreationAttributes<Daemon>> {
  declare id: string;
  /** The machine's own name. */
  declare host: string;
  declare listen: string;
  declare configFile: string;
  /** The keyed digest of the file's contents as the daemon read them: it tells nothing without the master key. */
  declare configDigest: string;
  declare seenAt: Date;
}

/** Binds the model to the open database. */
export function initDaemon(sequelize: Sequelize): void {
  Daemon.init(
    {
      id: { type: DataTypes.UUID, allowNull: false, primaryKey: true },
      host: { type: DataTypes.TEXT, allowNull: false },
      listen: { type: DataTypes.TEXT, allowNull: false },
      configFile: { type: DataTypes.TEXT, allowNull: false },
      configDigest: { type: DataTypes.TEXT, allowNull: false },
      seenAt: { type: DataTypes.DATE, allowNull: false },
    },
    { sequelize, tableName: 'daemons', underscored: true, timestamps: false },
  );
}
