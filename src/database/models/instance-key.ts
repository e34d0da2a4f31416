import { column, rowOf } from './columns.ts';

/** A random key of this instance, sealed by the master key. It stays when the master key changes. */
export class InstanceKey extends rowOf('instance_keys', {
  /** The purpose of the key. */
  id: column.key(column.string()),
  sealed: column.string(),
  createdAt: column.date(),
}) {}
