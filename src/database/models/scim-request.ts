import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** One of the last requests of an organization's SCIM client; neither its body nor its query is in it. */
export class ScimRequest extends Model<InferAttributes<ScimRequest>, InferCreationAttributes<ScimRequest>> {
  declare id: string;
  declare organizationId: string;
  declare at: Date;
  declare method: string;
  declare path: string;
  declare status: number;
  /** Why it was refused; null when it was not. */
  declare reason: string | null;
}

/** Binds the model to the open database. */
export function initScimRequest(sequelize: Sequelize): void {
  ScimRequest.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      organizationId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      at: { type: DataTypes.DATE, allowNull: false },
      method: { type: DataTypes.TEXT, allowNull: false },
      path: { type: DataTypes.TEXT, allowNull: false },
      status: { type: DataTypes.INTEGER, allowNull: false },
      reason: { type: DataTypes.TEXT, allowNull: true },
    },
    {
      sequelize,
      tableName: 'scim_requests',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'scim_requests_organization_id', fields: ['organization_id', 'id'] },
        { name: 'scim_requests_at', fields: ['at'] },
      ],
    },
  );
}
