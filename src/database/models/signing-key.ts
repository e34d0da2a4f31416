import { column, rowOf } from './columns.ts';

/** A key that signs session tokens (security X2). */
export class SigningKey extends rowOf('signing_keys', {
  /** The `kid`. */
  id: column.key(column.string()),
  publicJwk: column.json<Record<string, unknown>>(),
  /** Sealed. */
  privateJwk: column.string(),
  createdAt: column.date(),
  /** From then on the key only verifies. A rotation sets it slightly in the future. */
  retiredAt: column.optional(column.date()),
}) {}
