import { column, rowOf } from './columns.ts';

/** One refresh token of a session. Its JWT is signed from this row and is invalid without it. */
export class RefreshToken extends rowOf(
  'refresh_tokens',
  {
    /** The `jti`. */
    id: column.key(),
    sessionId: column.to('sessions'),
    /** The signing key, so that the same row signs to the same bytes. */
    keyId: column.string(),
    issuedAt: column.date(),
    expiresAt: column.date(),
    /** When it was used. A second use after the grace period ends the family. */
    rotatedAt: column.optional(column.date()),
    successorId: column.optional(column.uuid()),
  },
  () => [column.index('refresh_tokens_session_id', ['session_id'])],
) {}
