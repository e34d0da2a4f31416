import { column, rowOf } from './columns.ts';

/** An organization's sign-in settings (spec §2.9). Null means the instance's setting. */
export class SignInSettings extends rowOf('sign_in_settings', {
  organizationId: column.key(column.to('organizations')),
  password: column.optional(column.flag()),
  /** Null means the instance's setting; if that is absent too, the same as `password`. */
  passkey: column.optional(column.flag()),
  magicCode: column.optional(column.flag()),
  google: column.optional(column.flag()),
  github: column.optional(column.flag()),
  allowSelfSignup: column.optional(column.flag()),
  restrictOauthToVerifiedDomains: column.optional(column.flag()),
}) {}
