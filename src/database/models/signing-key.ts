import { column, rowOf } from './columns.ts';

/** A key that signs tokens (security X2). */
export class SigningKey extends rowOf('signing_keys', {
  /** The `kid` in tokens. */
  id: column.key(column.string()),
  publicJwk: column.json<Record<string, unknown>>(),
  /** Sealed. */
  privateJwk: column.string(),
  createdAt: column.date(),
  /** When the key stops signing. It still verifies. A rotation sets this slightly in the future. */
  retiredAt: column.optional(column.date()),
}) {}
