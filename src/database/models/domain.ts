import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** A domain that an organization claims or has proven (spec §2.1). */
export class Domain extends Model<InferAttributes<Domain>, InferCreationAttributes<Domain>> {
  declare id: string;
  declare organizationId: string;
  /** Canonical. */
  declare name: string;
  declare state: 'Pending' | 'Verified';
  declare token: string;
  declare verifiedAt: CreationOptional<Date | null>;
  declare verifiedBy: CreationOptional<'dns' | 'operator' | null>;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initDomain(sequelize: Sequelize): void {
  Domain.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      organizationId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      name: { type: DataTypes.TEXT, allowNull: false },
      state: { type: DataTypes.TEXT, allowNull: false },
      token: { type: DataTypes.TEXT, allowNull: false },
      verifiedAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      verifiedBy: { type: DataTypes.TEXT, allowNull: true, defaultValue: null },
      createdAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'domains',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'domains_organization_name', unique: true, fields: ['organization_id', 'name'] },
        { name: 'domains_verified_name', unique: true, fields: ['name'], where: { state: 'Verified' } },
      ],
    },
  );
}
