import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** An address in the `emails` of a SCIM record, so that it can be looked up. */
export class ScimEmail extends Model<InferAttributes<ScimEmail>, InferCreationAttributes<ScimEmail>> {
  declare recordId: string;
  declare valueCanonical: string;
  declare organizationId: string;
}

/** Binds the model to the open database. */
export function initScimEmail(sequelize: Sequelize): void {
  ScimEmail.init(
    {
      recordId: {
        type: DataTypes.UUID,
        allowNull: false,
        primaryKey: true,
        references: { model: 'scim_records', key: 'id' },
        onDelete: 'CASCADE',
      },
      valueCanonical: { type: DataTypes.TEXT, allowNull: false, primaryKey: true },
      organizationId: { type: DataTypes.UUID, allowNull: false },
    },
    {
      sequelize,
      tableName: 'scim_emails',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'scim_emails_value', fields: ['organization_id', 'value_canonical'] }],
    },
  );
}
