import { column, rowOf } from './columns.ts';

/** An unused recovery code of an account (security P17). */
export class RecoveryCode extends rowOf(
  'recovery_codes',
  {
    id: column.key(),
    accountId: column.to('accounts'),
    /** The HMAC of the code under a key of the instance. */
    hash: column.string(),
    /**
     * The organization whose provider was the only proof when the code was created; else null
     * (security P12).
     */
    vouchedBy: column.optional(column.uuid()),
    /** Whether the code was created in a session with this mark (security I8). */
    unapproved: column.withDefault(column.flag(), false),
    createdAt: column.date(),
  },
  () => [column.index('recovery_codes_account_id', ['account_id'])],
) {}
