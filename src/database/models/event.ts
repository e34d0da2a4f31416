import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** Who did it. */
export interface EventActor {
  kind: 'operator' | 'user' | 'app' | 'scim' | 'system' | 'anonymous';
  id?: string;
  name?: string;
}

/** What it was done to. */
export interface EventSubject {
  type: string;
  id: string;
  name?: string;
}

/** What happened, written in the transaction that did it. */
export class Event extends Model<InferAttributes<Event>, InferCreationAttributes<Event>> {
  declare id: string;
  declare kind: string;
  declare at: Date;
  /** The organization it happened in; kept when that is deleted. */
  declare organizationId: string | null;
  declare actor: EventActor;
  declare subject: EventSubject | null;
  declare data: Record<string, unknown>;
}

/** Binds the model to the open database. */
export function initEvent(sequelize: Sequelize): void {
  Event.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      kind: { type: DataTypes.TEXT, allowNull: false },
      at: { type: DataTypes.DATE, allowNull: false },
      organizationId: { type: DataTypes.UUID, allowNull: true },
      actor: { type: DataTypes.JSON, allowNull: false },
      subject: { type: DataTypes.JSON, allowNull: true },
      data: { type: DataTypes.JSON, allowNull: false },
    },
    {
      sequelize,
      tableName: 'events',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'events_organization_id', fields: ['organization_id', 'id'] }],
    },
  );
}
