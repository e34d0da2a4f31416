import { column, rowOf } from './columns.ts';

/** The one row about the sweep, shared by all daemons of the database. */
export class Sweep extends rowOf('sweeps', {
  /** Always `sweep`. */
  id: column.key(column.string()),
  /** When expired data was last deleted, or the clock was last confirmed. */
  sweptAt: column.date(),
  /** Since when a clock far from `sweptAt` has run without a jump; null if no sweep was refused. */
  heldAt: column.optional(column.date()),
  /** When a sweep was last refused. */
  seenAt: column.optional(column.date()),
}) {}
