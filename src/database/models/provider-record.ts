import { column, rowOf } from './columns.ts';

/**
 * A code, token or grant of the OpenID provider. A grant belongs to one session and one client, and
 * everything issued there names it. Without the grant or the live session, none of it is valid.
 */
export class ProviderRecord extends rowOf(
  'provider_records',
  {
    /** The SHA-256 of the model's name and the value, which the database never holds. */
    id: column.key(column.string()),
    model: column.string(),
    grantId: column.string(),
    /** No reference, because a client is told of the end of a session that was deleted. */
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

/** The end of a session that a client is still to be told of. */
export class ClientSignOut extends rowOf(
  'client_sign_outs',
  {
    id: column.key(),
    clientId: column.to('clients'),
    sid: column.string(),
    sub: column.string(),
    attempts: column.withDefault(column.integer(), 0),
    /** The next try. While a daemon sends it, this is the time from which another one may. */
    nextAt: column.date(),
    at: column.date(),
  },
  () => [
    column.index('client_sign_outs_client_id', ['client_id']),
    column.index('client_sign_outs_next_at', ['next_at']),
  ],
) {}
