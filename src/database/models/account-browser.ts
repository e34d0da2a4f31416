import { column, rowOf } from './columns.ts';

/** A browser from which an account has signed in. A cookie that outlives sign-out names it. */
export class AccountBrowser extends rowOf(
  'account_browsers',
  {
    accountId: column.key(column.to('accounts')),
    /** SHA-256 of the cookie's value. */
    hash: column.key(column.string()),
    firstSeenAt: column.date(),
    /** The last sign-in, to the day. */
    lastSeenAt: column.date(),
  },
  () => [column.index('account_browsers_last_seen_at', ['last_seen_at'])],
) {}
