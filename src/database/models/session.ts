import type { ConnectionKindName } from '../../connection-kinds.ts';
import { column, rowOf } from './columns.ts';

/** The method by which a person signed in. */
export type SignInMethod =
  | 'password'
  | ConnectionKindName
  | 'magicCode'
  | 'google'
  | 'github'
  | 'loginLink'
  | 'passkey'
  /** The code that verified the address of a new account. */
  | 'verification';

/** A sign-in of a browser or another program. Its refresh tokens are one family (security P4). */
export class Session extends rowOf(
  'sessions',
  {
    id: column.key(),
    accountId: column.to('accounts'),
    method: column.string<SignInMethod>(),
    /** The connection used for the sign-in, if any. */
    connectionId: column.optional(column.uuid()),
    /** The organization of the connection. */
    organizationId: column.optional(column.to('organizations', 'SET NULL')),
    address: column.optional(column.string()),
    userAgent: column.optional(column.string()),
    createdAt: column.date(),
    lastSeenAt: column.date(),
    /** The time when the session ends at the latest, 30 days after the sign-in. */
    expiresAt: column.date(),
    /**
     * When the session passed the account's own second factor, checked by idctl; else null
     * (security P15).
     */
    secondFactorAt: column.optional(column.date()),
    /**
     * The organization whose provider was the only proof of the second factor that the session
     * passed; else null (security P12).
     */
    vouchedBy: column.optional(column.uuid()),
    /**
     * Whether a connection that no owner had approved, or a credential with this mark, began the
     * session (security I8).
     */
    unapproved: column.withDefault(column.flag(), false),
    /** When the person last confirmed the session with the password (security P16). */
    confirmedAt: column.optional(column.date()),
    endedAt: column.optional(column.date()),
  },
  () => [
    column.index('sessions_account_id', ['account_id']),
    column.index('sessions_expires_at', ['expires_at']),
  ],
) {}
