import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** An organization's sign-in settings (spec §2.9); null leaves it to the instance. */
export class SignInSettings extends Model<
  InferAttributes<SignInSettings>,
  InferCreationAttributes<SignInSettings>
> {
  declare organizationId: string;
  declare password: CreationOptional<boolean | null>;
  declare magicCode: CreationOptional<boolean | null>;
  declare google: CreationOptional<boolean | null>;
  declare github: CreationOptional<boolean | null>;
  declare allowSelfSignup: CreationOptional<boolean | null>;
  declare restrictOauthToVerifiedDomains: CreationOptional<boolean | null>;
}

/** Binds the model to the open database. */
export function initSignInSettings(sequelize: Sequelize): void {
  // Sequelize writes into what it is given.
  const choice = () => ({ type: DataTypes.BOOLEAN, allowNull: true, defaultValue: null });
  SignInSettings.init(
    {
      organizationId: {
        type: DataTypes.UUID,
        primaryKey: true,
        allowNull: false,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      password: choice(),
      magicCode: choice(),
      google: choice(),
      github: choice(),
      allowSelfSignup: choice(),
      restrictOauthToVerifiedDomains: choice(),
    },
    { sequelize, tableName: 'sign_in_settings', underscored: true, timestamps: false, indexes: [] },
  );
}
