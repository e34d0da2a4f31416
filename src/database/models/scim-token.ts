import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** The SCIM token of an organization (spec §2.4). A revoked token has no row. */
export class ScimToken extends Row<ScimToken> {
  declare organizationId: string;
  declare prefix: string;
  /** SHA-256 of the value, in hex. */
  declare hash: string;
  declare createdAt: Date;
  /** Rounded to the minute. */
  declare lastUsedAt: CreationOptional<Date | null>;
  /** When the token was suspended, because it came from a backup. A new value ends this. */
  declare suspendedAt: CreationOptional<Date | null>;
}

/** Binds the model to the open database. */
export function initScimToken(sequelize: Sequelize): void {
  ScimToken.init(
    {
      organizationId: column.key(column.to('organizations')),
      prefix: column.string(),
      hash: column.string(),
      createdAt: column.date(),
      lastUsedAt: column.optional(column.date()),
      suspendedAt: column.optional(column.date()),
    },
    table(sequelize, 'scim_tokens', [column.unique('scim_tokens_hash', ['hash'])]),
  );
}
