import { Worker } from 'node:worker_threads';
import { QueryTypes, type Sequelize } from 'sequelize';
import { type Columns, readColumns } from './columns.ts';
import { directOf } from './direct.ts';
import { dialectOfDatabase, servedDatabase } from './select.ts';
import { bindable } from './sqlite-connection.ts';
import { transactionOn } from './transaction.ts';

/** A plain SQL query with `$1` parameters. */
export interface Query {
  sql: string;
  bind: unknown[];
  /** The columns with flags, times and JSON. */
  columns?: Columns;
}

/** A query for the reader thread. */
export interface ReaderQuestion {
  id: number;
  query: { sql: string; bind: ReturnType<typeof bindable>[] };
  /** The deadline, in milliseconds since the epoch. */
  until: number;
}

/** The thread's answer. */
export interface ReaderResult {
  id: number;
  rows?: object[];
  /** `late`, or the message of the query's error. */
  error?: string;
}

/** Thrown when a query runs out of time. */
export class OutOfTime extends Error {
  override name = 'OutOfTime';
}

/**
 * Runs a query that may scan a whole table, without delaying other queries. Throws `OutOfTime`
 * after `milliseconds`. On SQLite, the query must include the condition `whileInTime`.
 */
export async function selectWithin<Row extends object>(
  milliseconds: number,
  query: Query,
): Promise<Row[]> {
  const sequelize = servedDatabase();
  const rows =
    sequelize.getDialect() === 'sqlite'
      ? await selectOnSqlite(sequelize, query, milliseconds)
      : await transactionOn(sequelize, () => selectInTime(sequelize, query, milliseconds));
  // The caller wrote the query, so it knows the row type.
  return readColumns(rows, query.columns) as Row[];
}

/** The condition that ends a query on SQLite when its time is over. */
export function whileInTime(dialect = dialectOfDatabase()): string {
  return dialect === 'sqlite' ? 'in_time()' : 'true';
}

async function selectOnSqlite(
  sequelize: Sequelize,
  query: Query,
  milliseconds: number,
): Promise<object[]> {
  const { readInTime } = directOf(sequelize);
  if (readInTime === undefined) return ask(sequelize, query, milliseconds);
  // This driver can interrupt a query, but does not know the function `in_time`.
  const rows = await readInTime(
    { bind: query.bind, sql: query.sql.replaceAll(whileInTime('sqlite'), 'true') },
    milliseconds,
  );
  if (rows === null) throw new OutOfTime();
  return rows;
}

async function selectInTime(
  sequelize: Sequelize,
  { sql, bind }: Query,
  milliseconds: number,
): Promise<object[]> {
  await sequelize.query(`SET LOCAL statement_timeout = ${Math.max(1, Math.round(milliseconds))}`);
  try {
    return await sequelize.query<object>(sql, { bind, type: QueryTypes.SELECT });
  } catch (error) {
    throw isCanceled(error) ? new OutOfTime() : error;
  }
}

function isCanceled(error: unknown): boolean {
  const parent = error instanceof Error && 'parent' in error ? error.parent : null;
  return parent instanceof Error && 'code' in parent && parent.code === '57014';
}

interface Reader {
  file: string;
  worker: Worker;
  waiting: Map<number, { resolve: (rows: object[]) => void; reject: (error: Error) => void }>;
}

// A checkout has the source file, a release the compiled file.
const program = import.meta.url.endsWith('.ts')
  ? new URL('./sqlite-reader.ts', import.meta.url)
  : new URL('./sqlite-reader.js', import.meta.url);

let reader: Reader | undefined;
let asked = 0;

function ask(sequelize: Sequelize, { sql, bind }: Query, milliseconds: number): Promise<object[]> {
  const { worker, waiting } = readerOf(sequelize);
  asked += 1;
  const question: ReaderQuestion = {
    id: asked,
    query: { sql, bind: bind.map(bindable) },
    until: Date.now() + milliseconds,
  };
  return new Promise((resolve, reject) => {
    waiting.set(question.id, { resolve, reject });
    worker.postMessage(question);
  });
}

/** The reader thread of the open database. The first query starts it. */
function readerOf(sequelize: Sequelize): Reader {
  // Sequelize's types omit the options it was opened with.
  const file = (sequelize as Sequelize & { options: { storage: string } }).options.storage;
  if (reader?.file === file) return reader;
  void reader?.worker.terminate();
  const worker = new Worker(program, { workerData: file });
  worker.unref();
  const opened: Reader = { file, worker, waiting: new Map() };
  worker.on('message', (result: ReaderResult) => settle(opened, result));
  worker.once('error', (error) => fail(opened, error));
  worker.once('exit', () => fail(opened, new Error('the reader thread has ended')));
  reader = opened;
  return opened;
}

function settle({ waiting }: Reader, { id, rows, error }: ReaderResult): void {
  const asker = waiting.get(id);
  waiting.delete(id);
  if (rows !== undefined) asker?.resolve(rows);
  else asker?.reject(error === 'late' ? new OutOfTime() : new Error(error));
}

function fail(failed: Reader, error: Error): void {
  if (reader === failed) reader = undefined;
  for (const { reject } of failed.waiting.values()) reject(error);
  failed.waiting.clear();
}

/** Ends the reader thread, if there is one. Call it when the database closes. */
export async function endReader(): Promise<void> {
  const ended = reader;
  reader = undefined;
  await ended?.worker.terminate();
}
