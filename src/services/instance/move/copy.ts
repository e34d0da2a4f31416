import type { z } from 'zod';
import { countRows, readBatch, tryValue, type Values, writeBatch } from '../../../database/bulk.ts';
import type { PlainConnection } from '../../../database/plain-connection.ts';
import type { Table } from '../../../database/tables.ts';
import { Refusal } from '../../../errors.ts';
import { codeOf } from '../../../host/file-fault.ts';
import { type Digest, digestOf } from './digest.ts';
import type { movedTable } from './schema.ts';

/** The maximum rows of a batch, and its target size. Memory must not grow with the database. */
const max = { rows: 1000, bytes: 2 ** 18 };
const firstBatch = 100;

/** A table that was copied. */
export type CopiedTable = z.output<typeof movedTable>;

interface Copying {
  from: PlainConnection;
  to: PlainConnection;
  table: Table;
  /** Called with the number of rows of each batch. */
  progress: (rows: number) => void;
}

/** The checksum of a table, in the form that `copyTable` returns. */
export async function sumTable(from: PlainConnection, table: Table): Promise<CopiedTable> {
  const digest = await eachBatch(from, table, async () => {});
  return { name: table.name, rows: digest.rows, checksum: digest.sum() };
}

/** Copies a table. Call `compareTable` to check the copy. */
export async function copyTable({ from, to, table, progress }: Copying): Promise<CopiedTable> {
  const digest = await eachBatch(from, table, async (rows) => {
    await write(to, table, rows);
    progress(rows.length);
  });
  return { name: table.name, rows: digest.rows, checksum: digest.sum() };
}

/**
 * Compares the copy's checksum, and the counts of both tables, with those that `copyTable` has
 * read.
 */
export async function compareTable(
  { from, to, table, progress }: Copying,
  { rows, checksum }: CopiedTable,
): Promise<void> {
  const written = await eachBatch(to, table, async (some) => progress(some.length));
  const counts = [await countRows(from, table), await countRows(to, table)];
  const equal = written.sum() === checksum && written.rows === rows;
  if (!equal || counts.some((count) => count !== rows)) throw unequal(table, counts);
}

async function eachBatch(
  connection: PlainConnection,
  table: Table,
  work: (rows: Values[]) => Promise<void>,
): Promise<Digest> {
  const digest = digestOf(table);
  let limit = firstBatch;
  for (let after: Values | null = null; ; ) {
    const { rows, last } = await readBatch(connection, table, { after, limit });
    if (last === null) return digest;
    for (const row of rows) digest.add(row);
    await work(rows);
    after = last;
    limit = nextLimit(rows);
  }
}

/** The rows of a table vary in size, so the last batch decides the size of the next one. */
function nextLimit(rows: Values[]): number {
  let length = 0;
  for (const row of rows)
    for (const value of row) length += typeof value === 'string' ? value.length : 8;
  const fitting = Math.floor((max.bytes * rows.length) / length);
  return Math.max(1, Math.min(max.rows, rows.length * 4, fitting));
}

async function write(to: PlainConnection, table: Table, rows: Values[]): Promise<void> {
  try {
    await writeBatch(to, table, rows);
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    for (const row of rows) {
      await writeBatch(to, table, [row]).catch(async (cause: unknown) => {
        throw isUnstorable(cause) ? await unstorable(to, table, row) : cause;
      });
    }
    throw error;
  }
}

/** PostgreSQL's errors for the character U+0000 in text and in JSON. */
const nul = ['22021', '22P05'];

/** PostgreSQL's class of errors for values that a column cannot store. */
function isUnstorable(error: unknown): boolean {
  return codeOf(error)?.startsWith('22') ?? false;
}

/** Names only the position of the value, because PostgreSQL's own message may show the value. */
async function unstorable(to: PlainConnection, table: Table, row: Values): Promise<Refusal> {
  const { name, columns, key } = table;
  const parts = key.map((column) => row[columns.findIndex((each) => each.name === column)]);
  let [column, reason] = ['', ''];
  for (const [at, each] of columns.entries()) {
    const fault = await tryValue(to, each, row[at]).catch((cause: unknown) => cause);
    if (!isUnstorable(fault)) continue;
    column = `the column ${each.name} of `;
    reason = nul.includes(codeOf(fault) ?? '')
      ? 'It contains the character U+0000. '
      : `It is not a valid ${each.kind}. `;
  }
  return new Refusal(
    'conflict',
    `The new database cannot store ${column}the row ${parts.join(', ')} of the table ${name}.`,
    { hint: `${reason}Correct it in the current database, then run the move again.` },
  );
}

function unequal({ name }: Table, [from, to]: number[]): Refusal {
  return new Refusal(
    'conflict',
    `The copy of the table ${name} differs from the original (${from} rows, copied ${to}).`,
    { hint: 'idctl does not use the new database until the move is complete. Run the move again.' },
  );
}
