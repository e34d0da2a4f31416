import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** What a mailed code is for: to prove the address of a new account, to sign in, or to choose a new password. */
export type CodePurpose = 'verify' | 'signin' | 'reset';

/** The last code that was mailed to an account for one purpose (security P10). */
export class MailCode extends Model<InferAttributes<MailCode>, InferCreationAttributes<MailCode>> {
  declare accountId: string;
  declare purpose: CodePurpose;
  /** A keyed hash of the code, its account and its purpose. */
  declare hash: string;
  /** How many were compared with it. */
  declare tries: number;
  declare expiresAt: Date;
}

/** Binds the model to the open database. */
export function initMailCode(sequelize: Sequelize): void {
  MailCode.init(
    {
      accountId: {
        type: DataTypes.UUID,
        allowNull: false,
        primaryKey: true,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      purpose: { type: DataTypes.TEXT, allowNull: false, primaryKey: true },
      hash: { type: DataTypes.TEXT, allowNull: false },
      tries: { type: DataTypes.INTEGER, allowNull: false },
      expiresAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'mail_codes',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'mail_codes_expires_at', fields: ['expires_at'] }],
    },
  );
}
