import { column, rowOf } from './columns.ts';

/** A refresh token of a session. Its JWT is signed from this row, and invalid without it. */
export class RefreshToken extends rowOf(
  'refresh_tokens',
  {
    /** The `jti` of the JWT. */
    id: column.key(),
    sessionId: column.to('sessions'),
    /** The signing key. With the same key, the row always gives the same JWT. */
    keyId: column.string(),
    issuedAt: column.date(),
    expiresAt: column.date(),
    /** When the token was used. Another use after the grace period ends the session. */
    rotatedAt: column.optional(column.date()),
    successorId: column.optional(column.uuid()),
  },
  () => [column.index('refresh_tokens_session_id', ['session_id'])],
) {}
