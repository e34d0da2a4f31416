import { column, rowOf } from './columns.ts';

/** An account that its person deleted, and whose personal data is still in events. */
export class Erasure extends rowOf('erasures', {
  /** The id of the deleted account. */
  id: column.key(),
  /** The last address of the account, to find events that name only the address. */
  email: column.optional(column.string()),
  deletedAt: column.date(),
}) {}
