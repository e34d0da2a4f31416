import { column, rowOf } from './columns.ts';

/** A one-time sign-in link from the operator. An account has at most one. */
export class LoginLink extends rowOf(
  'login_links',
  {
    /** SHA-256 of the token in the link. */
    id: column.key(column.string()),
    accountId: column.to('accounts'),
    expiresAt: column.date(),
  },
  () => [
    column.unique('login_links_account_id', ['account_id']),
    column.index('login_links_expires_at', ['expires_at']),
  ],
) {}
