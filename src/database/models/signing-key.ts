import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A key that signs tokens (security X2). */
export class SigningKey extends Row<SigningKey> {
  /** The `kid` in tokens. */
  declare id: string;
  declare publicJwk: Record<string, unknown>;
  /** Sealed. */
  declare privateJwk: string;
  declare createdAt: Date;
  /** When the key stops signing. It still verifies. A rotation sets this slightly in the future. */
  declare retiredAt: CreationOptional<Date | null>;
}

/** Binds the model to the open database. */
export function initSigningKey(sequelize: Sequelize): void {
  SigningKey.init(
    {
      id: column.key(column.string()),
      publicJwk: column.json(),
      privateJwk: column.string(),
      createdAt: column.date(),
      retiredAt: column.optional(column.date()),
    },
    table(sequelize, 'signing_keys'),
  );
}
