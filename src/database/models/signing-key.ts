import type { CreationOptional, Sequelize } from 'sequelize';
import { instant, json, key, optional, Row, table, text } from './columns.ts';

/** A key that signs session tokens (security X2). */
export class SigningKey extends Row<SigningKey> {
  /** The `kid`. */
  declare id: string;
  declare publicJwk: Record<string, unknown>;
  /** Sealed. */
  declare privateJwk: string;
  declare createdAt: Date;
  /** From then on it only verifies; rotation sets it a little ahead. */
  declare retiredAt: CreationOptional<Date | null>;
}

/** Binds the model to the open database. */
export function initSigningKey(sequelize: Sequelize): void {
  SigningKey.init(
    {
      id: key(text()),
      publicJwk: json(),
      privateJwk: text(),
      createdAt: instant(),
      retiredAt: optional(instant()),
    },
    table(sequelize, 'signing_keys'),
  );
}
