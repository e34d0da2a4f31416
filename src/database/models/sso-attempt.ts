import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** How far a sign-in came, in order; a successful one reached the last. */
export const attemptStages = [
  'connection',
  'authorization',
  'discovery',
  'token',
  'id_token',
  'userinfo',
  'claims',
  'account',
  'session',
] as const;
export type AttemptStage = (typeof attemptStages)[number];

/** One of the last sign-ins through a connection; no token and no code of the provider is in it. */
export class SsoAttempt extends Model<InferAttributes<SsoAttempt>, InferCreationAttributes<SsoAttempt>> {
  declare id: string;
  declare connectionId: string;
  declare at: Date;
  declare stage: AttemptStage;
  declare ok: boolean;
  /** Why it was refused; null when it was not. */
  declare code: string | null;
  /** Canonical; null when the provider named nobody, or no address. */
  declare email: string | null;
  /** The groups claim as received; null when there was none, or it could not be read. */
  declare groups: string[] | null;
  declare groupsMalformed: boolean;
  /** The id of the request, which a refused person sees as their reference; null before 0028. */
  declare reference: string | null;
}

/** Binds the model to the open database. */
export function initSsoAttempt(sequelize: Sequelize): void {
  SsoAttempt.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      connectionId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'sso_connections', key: 'id' },
        onDelete: 'CASCADE',
      },
      at: { type: DataTypes.DATE, allowNull: false },
      stage: { type: DataTypes.TEXT, allowNull: false },
      ok: { type: DataTypes.BOOLEAN, allowNull: false },
      code: { type: DataTypes.TEXT, allowNull: true },
      email: { type: DataTypes.TEXT, allowNull: true },
      groups: { type: DataTypes.JSON, allowNull: true },
      groupsMalformed: { type: DataTypes.BOOLEAN, allowNull: false },
      reference: { type: DataTypes.TEXT, allowNull: true },
    },
    {
      sequelize,
      tableName: 'sso_attempts',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'sso_attempts_connection_id', fields: ['connection_id', 'id'] },
        { name: 'sso_attempts_at', fields: ['at'] },
      ],
    },
  );
}
