import { column, rowOf } from './columns.ts';

/**
 * A code, token or grant of idctl's OpenID provider. A grant belongs to one session and one client.
 * Everything issued under the grant refers to it, and is invalid without the grant or after the
 * session ends.
 */
export class ProviderRecord extends rowOf(
  'provider_records',
  {
    /** SHA-256 of the model's name and the value. The value itself is never stored. */
    id: column.key(column.string()),
    model: column.string(),
    grantId: column.string(),
    /** No foreign key, because clients are also notified about deleted sessions. */
    sessionId: column.uuid(),
    clientId: column.to('clients'),
    payload: column.json(),
    expiresAt: column.date(),
    /** When a code or refresh token was used. */
    consumedAt: column.optional(column.date()),
  },
  () => [
    column.index('provider_records_grant_id', ['grant_id']),
    column.index('provider_records_client_id', ['client_id']),
    column.index('provider_records_expires_at', ['expires_at']),
    column.unique('provider_records_grant', ['session_id', 'client_id'], { model: 'Grant' }),
  ],
) {}

/** An ended session that a client must still be notified about. */
export class ClientSignOut extends rowOf(
  'client_sign_outs',
  {
    id: column.key(),
    clientId: column.to('clients'),
    sid: column.string(),
    sub: column.string(),
    attempts: column.withDefault(column.integer(), 0),
    /** The time of the next attempt. A daemon postpones it while it sends the notice. */
    nextAt: column.date(),
    at: column.date(),
  },
  () => [
    column.index('client_sign_outs_client_id', ['client_id']),
    column.index('client_sign_outs_next_at', ['next_at']),
  ],
) {}
