import { hash } from 'node:crypto';
import type { Values } from '../../../database/bulk.ts';
import type { Table } from '../../../database/tables.ts';

/** A checksum of a table's rows. It does not depend on the order of the rows. */
export interface Digest {
  add(row: Values): void;
  readonly rows: number;
  /** The checksum in hexadecimal. */
  sum(): string;
}

/** A digest for rows of this table. */
export function digestOf({ columns }: Table): Digest {
  let [rows, sum] = [0, 0n];
  // PostgreSQL stores the members of a jsonb object in its own order.
  const reordered = columns.flatMap(({ kind }, at) => (kind === 'jsonb' ? [at] : []));
  return {
    add(row) {
      const values = reordered.length === 0 ? row : [...row];
      for (const at of reordered) values[at] = sorted(JSON.parse(String(row[at])));
      const bytes = hash('sha256', JSON.stringify(values), 'buffer');
      sum = BigInt.asUintN(128, sum + bytes.readBigUInt64LE(0) + (bytes.readBigUInt64LE(8) << 64n));
      rows += 1;
    },
    get rows() {
      return rows;
    },
    sum: () => sum.toString(16).padStart(32, '0'),
  };
}

/** The value, with the members of each object sorted by name. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}
