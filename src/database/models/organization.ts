import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** A workspace: it has members, verified domains and connections. */
export class Organization extends Model<
  InferAttributes<Organization>,
  InferCreationAttributes<Organization>
> {
  declare id: string;
  /** Lower case, unique, never shaped like a UUID. */
  declare slug: string;
  declare name: string;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initOrganization(sequelize: Sequelize): void {
  Organization.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      slug: { type: DataTypes.TEXT, allowNull: false },
      name: { type: DataTypes.TEXT, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'organizations',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'organizations_slug', unique: true, fields: ['slug'] }],
    },
  );
}
