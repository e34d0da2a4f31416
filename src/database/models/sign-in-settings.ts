import type { CreationOptional, Sequelize } from 'sequelize';
import { flag, key, optional, Row, table, to } from './columns.ts';

/** An organization's sign-in settings (spec §2.9). Null means the instance's setting. */
export class SignInSettings extends Row<SignInSettings> {
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
  SignInSettings.init(
    {
      organizationId: key(to('organizations')),
      password: optional(flag()),
      magicCode: optional(flag()),
      google: optional(flag()),
      github: optional(flag()),
      allowSelfSignup: optional(flag()),
      restrictOauthToVerifiedDomains: optional(flag()),
    },
    table(sequelize, 'sign_in_settings'),
  );
}
