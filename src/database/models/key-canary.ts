import { column, rowOf } from './columns.ts';

/** A constant sealed by a master key. It opens only with the right key (security X3). */
export class KeyCanary extends rowOf('key_canaries', {
  keyId: column.key(column.string()),
  sealed: column.string(),
  createdAt: column.date(),
}) {}
