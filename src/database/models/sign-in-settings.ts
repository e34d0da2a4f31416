import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** An organization's sign-in settings (spec §2.9). Null means: as the instance. */
export class SignInSettings extends Row<SignInSettings> {
  declare organizationId: string;
  declare password: CreationOptional<boolean | null>;
  /** Null means that the instance's setting applies. If that is absent too, `password` applies. */
  declare passkey: CreationOptional<boolean | null>;
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
      organizationId: column.key(column.to('organizations')),
      password: column.optional(column.flag()),
      passkey: column.optional(column.flag()),
      magicCode: column.optional(column.flag()),
      google: column.optional(column.flag()),
      github: column.optional(column.flag()),
      allowSelfSignup: column.optional(column.flag()),
      restrictOauthToVerifiedDomains: column.optional(column.flag()),
    },
    table(sequelize, 'sign_in_settings'),
  );
}
