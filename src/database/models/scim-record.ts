import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type NonAttribute,
  type Sequelize,
} from 'sequelize';
import type { Account } from './account.ts';

/**
 * How the record came to its account: it made it (`created`), it took in one that existed (`attached`), or the person
 * was a member before the client spoke of them, and has not been spoken of yet (`member`) or has (`adopted`).
 */
export type RecordLink = 'created' | 'attached' | 'member' | 'adopted';

/**
 * A person of an organization as its provisioning sees them: the key (organization, record) by which SCIM reaches an
 * account (security I1). It outlives the membership, which `active` follows.
 */
export class ScimRecord extends Model<InferAttributes<ScimRecord>, InferCreationAttributes<ScimRecord>> {
  declare id: string;
  declare organizationId: string;
  declare accountId: string;
  declare link: RecordLink;
  declare userName: string;
  declare userNameCanonical: string;
  declare externalId: string | null;
  declare active: boolean;
  /** Deleted under `scim.deleteMode: remove`. */
  declare hidden: boolean;
  /** What the client wrote, as JSON. */
  declare resource: string;
  /** The same, made for filters. */
  declare search: object;
  declare version: number;
  declare createdAt: Date;
  declare modifiedAt: Date;
  /** There when the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initScimRecord(sequelize: Sequelize): void {
  ScimRecord.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      organizationId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      accountId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      link: { type: DataTypes.TEXT, allowNull: false },
      userName: { type: DataTypes.TEXT, allowNull: false },
      userNameCanonical: { type: DataTypes.TEXT, allowNull: false },
      externalId: { type: DataTypes.TEXT, allowNull: true },
      active: { type: DataTypes.BOOLEAN, allowNull: false },
      hidden: { type: DataTypes.BOOLEAN, allowNull: false },
      resource: { type: DataTypes.TEXT, allowNull: false },
      search: { type: DataTypes.JSONB, allowNull: false },
      version: { type: DataTypes.INTEGER, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      modifiedAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'scim_records',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'scim_records_account', unique: true, fields: ['account_id', 'organization_id'] },
        { name: 'scim_records_user_name', unique: true, fields: ['organization_id', 'user_name_canonical'] },
        { name: 'scim_records_external_id', fields: ['organization_id', 'external_id'] },
        { name: 'scim_records_order', fields: ['organization_id', 'hidden', 'created_at', 'id'] },
      ],
    },
  );
}
