import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A refresh token of a session. Its JWT is signed from this row, and invalid without it. */
export class RefreshToken extends Row<RefreshToken> {
  /** The `jti` of the JWT. */
  declare id: string;
  declare sessionId: string;
  /** The signing key. With the same key, the row always gives the same JWT. */
  declare keyId: string;
  declare issuedAt: Date;
  declare expiresAt: Date;
  /** When the token was used. Another use after the grace period ends the session. */
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
