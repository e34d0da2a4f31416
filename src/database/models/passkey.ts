import { column, rowOf } from './columns.ts';

/** A WebAuthn credential of an account. */
export class Passkey extends rowOf(
  'passkeys',
  {
    id: column.key(),
    accountId: column.to('accounts'),
    name: column.string(),
    /** The credential id from the authenticator, in base64url. */
    credentialId: column.string(),
    /** The COSE public key, in base64url. */
    publicKey: column.string(),
    /** The last signature counter, an unsigned 32-bit number. */
    counter: column.number(),
    transports: column.json<string[]>(),
    /** Whether the authenticator can copy the credential to other devices, and whether it has. */
    backupEligible: column.flag(),
    backedUp: column.flag(),
    /**
     * Whether the passkey signs in without a password; otherwise it is only a second factor. Null
     * while this is unknown, until its first sign-in (security P16).
     */
    signsIn: column.optional(column.flag()),
    /**
     * The organization whose provider was the only proof when the passkey was added; else null
     * (security P12).
     */
    vouchedBy: column.optional(column.uuid()),
    /** Whether the passkey was added in a session with this mark (security I8). */
    unapproved: column.withDefault(column.flag(), false),
    /**
     * Set by a restore until the person signs in another way: the passkey does not sign in alone.
     * It may have been removed since the backup.
     */
    suspendedAt: column.optional(column.date()),
    createdAt: column.date(),
    lastUsedAt: column.optional(column.date()),
  },
  () => [
    column.unique('passkeys_credential_id', ['credential_id']),
    column.index('passkeys_account_id', ['account_id']),
  ],
) {}
