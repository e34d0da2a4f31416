import type { CreationOptional, Sequelize } from 'sequelize';
import { instantColumn, key, optional, Row, table, textColumn, to, unique } from './columns.ts';

/** The one live SCIM token of an organization (spec §2.4); one that is revoked is gone. */
export class ScimToken extends Row<ScimToken> {
  declare organizationId: string;
  declare prefix: string;
  /** SHA-256 of the value, in hex. */
  declare hash: string;
  declare createdAt: Date;
  /** To the minute. */
  declare lastUsedAt: CreationOptional<Date | null>;
  /** Since when it is not accepted, having come out of a backup; until it is rotated. */
  declare suspendedAt: CreationOptional<Date | null>;
}

/** Binds the model to the open database. */
export function initScimToken(sequelize: Sequelize): void {
  ScimToken.init(
    {
      organizationId: key(to('organizations')),
      prefix: textColumn(),
      hash: textColumn(),
      createdAt: instantColumn(),
      lastUsedAt: optional(instantColumn()),
      suspendedAt: optional(instantColumn()),
    },
    table(sequelize, 'scim_tokens', [unique('scim_tokens_hash', ['hash'])]),
  );
}
