import { column, rowOf } from './columns.ts';

/** An organization's sign-in settings (spec §2.9). Null means: as the instance. */
export class SignInSettings extends rowOf('sign_in_settings', {
  organizationId: column.key(column.to('organizations')),
  password: column.optional(column.flag()),
  /** If null, `password` decides. If both are null, the instance's `passkey` or else `password`. */
  passkey: column.optional(column.flag()),
  magicCode: column.optional(column.flag()),
  google: column.optional(column.flag()),
  github: column.optional(column.flag()),
  allowSelfSignup: column.optional(column.flag()),
  restrictOauthToVerifiedDomains: column.optional(column.flag()),
}) {}
