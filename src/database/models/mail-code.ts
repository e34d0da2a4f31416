import { column, rowOf } from './columns.ts';

/**
 * The purpose of a mailed code that anyone can request for the address of an account: to verify a
 * new account's address, to sign in, or to reset the password.
 */
export type EntryPurpose = 'verify' | 'signin' | 'reset';

/** The purpose of a mailed code; `email` changes the account's address. */
export type CodePurpose = EntryPurpose | 'email';

/** The last code mailed to an account for one purpose (security P10). */
export class MailCode extends rowOf(
  'mail_codes',
  {
    accountId: column.key(column.to('accounts')),
    purpose: column.key(column.string<CodePurpose>()),
    /** A keyed hash of the code, its account and its purpose. */
    hash: column.string(),
    /** The number of codes that were compared with the hash. */
    tries: column.integer(),
    expiresAt: column.date(),
  },
  () => [column.index('mail_codes_expires_at', ['expires_at'])],
) {}
