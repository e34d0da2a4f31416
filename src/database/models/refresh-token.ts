import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** One refresh token of a session. Its JWT is signed from this row and is invalid without it. */
export class RefreshToken extends Row<RefreshToken> {
  /** The `jti`. */
  declare id: string;
  declare sessionId: string;
  /** The signing key, so that the same row signs to the same bytes. */
  declare keyId: string;
  declare issuedAt: Date;
  declare expiresAt: Date;
  /** When it was used. A second use after the grace period ends the family. */
  declare rotatedAt: CreationOptional<Date | null>;
  declare successorId: CreationOptional<string | null>;
}

/** Binds the model to the open database. */
export function initRefreshToken(sequelize: Sequelize): void {
  RefreshToken.init(
    {
      id: column.key(),
      sessionId: column.to('sessions'),
      keyId: column.string(),
      issuedAt: column.date(),
      expiresAt: column.date(),
      rotatedAt: column.optional(column.date()),
      successorId: column.optional(column.uuid()),
    },
    table(sequelize, 'refresh_tokens', [column.index('refresh_tokens_session_id', ['session_id'])]),
  );
}
