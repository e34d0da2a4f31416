import { column, rowOf } from './columns.ts';

/** An organization's sign-in settings (spec §2.9). For null, the instance's setting applies. */
export class SignInSettings extends rowOf('sign_in_settings', {
  organizationId: column.key(column.to('organizations')),
  password: column.optional(column.flag()),
  /**
   * If null, `password` decides. If both are null, the instance decides: its `passkey`, or else its
   * `password`.
   */
  passkey: column.optional(column.flag()),
  magicCode: column.optional(column.flag()),
  google: column.optional(column.flag()),
  github: column.optional(column.flag()),
  allowSelfSignup: column.optional(column.flag()),
  restrictOauthToVerifiedDomains: column.optional(column.flag()),
}) {}
