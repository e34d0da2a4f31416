import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type {
  OpenConnection,
  SqliteConnection,
  SqliteOptions,
  SqlParameters,
} from './sqlite-connection.ts';
import { isReadOnlyFault, namedError } from './sqlite-errors.ts';
import { watchFile } from './sqlite-file-watch.ts';
import { type Connections, connections } from './sqlite-pool.ts';
import { syncWal } from './sqlite-sync.ts';
import { withoutSync } from './without-sync.ts';

// Imitates the `sqlite3` package for Sequelize 6, over connections of either driver. One writer
// stays open, only for transactions. Other statements use a connection that refuses writes.
// Callbacks go through setImmediate, because a chain of ticks would starve timers and sockets.

type Callback = (this: unknown, error: Error | null, rows?: Record<string, unknown>[]) => void;

/** A driver for one file, for Sequelize's `dialectModule`. */
export interface SqliteDriver {
  /** The part of the `sqlite3` package's interface that Sequelize uses. */
  module: object;
  /** Reads without Sequelize. */
  read(sql: string, bind: readonly unknown[]): Promise<object[]>;
  /** Runs a statement on the connection of a transaction, without Sequelize. */
  run(connection: object, sql: string, bind: readonly unknown[]): Promise<object[]>;
  /** Resolves once all commits before the call are on the disk. */
  settled(): Promise<void>;
  /** Closes the open connections. Sequelize's own close does not know them. */
  close(): Promise<void>;
}

/** A driver for one file. The first statement opens the file with `open`. */
export function sqliteDriver(open: OpenConnection, options: SqliteOptions): SqliteDriver {
  const place = watchFile(options.file);
  const sync = syncWal(options.file);
  const pool = connections(open, options, { place, sync });
  class Database extends Session {
    constructor(_file: string, _mode: number, opened: (error: Error | null) => void) {
      super(pool);
      setImmediate(opened, null);
    }
  }
  return {
    // With another `OPEN_CREATE`, Sequelize would create the folder again for each transaction.
    module: { OPEN_READWRITE: 2, OPEN_CREATE: 0, Database },
    async read(sql, bind) {
      const rows = await (await pool.reader()).all(sql, bind).catch(explainReadOnly);
      // Yields, as callbacks do, so that a chain of reads does not delay other work.
      await yieldToEventLoop();
      return rows;
    },
    run: (connection, sql, bind) =>
      // Sequelize types a connection as object. It is a `Session`.
      new Promise((resolve, reject) =>
        (connection as Session).all(sql, bind, (error, rows = []) =>
          error ? reject(error) : resolve(rows),
        ),
      ),
    settled: sync.settled,
    async close() {
      if (await sync.close(pool.reader)) await pool.close();
      // Without that, Node would close the connections at its end.
      else process.once('exit', (code) => process.exit(code));
    },
  };
}

/** The `this` of a callback. Sequelize looks up the class by its name. */
class Statement {
  lastID = 0;
  changes = 0;
}

/**
 * A connection as Sequelize sees it. If its first statement is BEGIN, it uses the writer; otherwise
 * it only reads.
 */
class Session {
  readonly #pool: Connections;
  #writer: SqliteConnection | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(pool: Connections) {
    this.#pool = pool;
  }

  serialize(work: () => void): void {
    work();
  }

  all(sql: string, ...rest: [Callback?] | [SqlParameters, Callback?]): void {
    this.#answer(sql, rest, async (connection, parameters) => ({
      rows: await connection.all(sql, parameters),
      statement: new Statement(),
    }));
  }

  run(sql: string, ...rest: [Callback?] | [SqlParameters, Callback?]): void {
    this.#answer(sql, rest, async (connection, parameters) => ({
      rows: undefined,
      statement: Object.assign(new Statement(), await connection.run(sql, parameters)),
    }));
  }

  /** Rolls back an open transaction, and releases the writer. */
  close(callback?: (error: Error | null) => void): void {
    this.#closed = true;
    void this.#release().then(() => callback && setImmediate(callback, null));
  }

  #answer(
    sql: string,
    rest: [Callback?] | [SqlParameters, Callback?],
    work: (connection: SqliteConnection, parameters: SqlParameters) => Promise<StatementResult>,
  ): void {
    const [parameters, callback] = typeof rest[0] === 'object' ? [rest[0], rest[1]] : [[], rest[0]];
    this.#perform(sql, (connection) => work(connection, parameters)).then(
      ({ rows, statement }) => setImmediate(() => callback?.call(statement, null, rows)),
      (error) => setImmediate(() => callback?.call(new Statement(), namedError(error))),
    );
  }

  async #perform(
    sql: string,
    work: (connection: SqliteConnection) => Promise<StatementResult>,
  ): Promise<StatementResult> {
    if (this.#closed) throw tooLate();
    if (/^BEGIN\b/i.test(sql)) return this.#begin(work);
    if (/^(COMMIT|ROLLBACK)\b/i.test(sql)) return this.#end(sql, work);
    if (this.#writer) return this.#next(work);
    return work(await this.#pool.reader()).catch(explainReadOnly);
  }

  /**
   * Runs a statement of the transaction after the one before. After one that failed, none runs, as on
   * PostgreSQL: SQLite may have rolled back by itself, and would commit the next statement alone.
   */
  #next(work: (connection: SqliteConnection) => Promise<StatementResult>) {
    const answer = this.#last.then(() => {
      if (this.#writer === undefined) throw tooLate();
      return work(this.#writer);
    });
    this.#last = answer;
    return answer;
  }

  async #begin(
    work: (connection: SqliteConnection) => Promise<StatementResult>,
  ): Promise<StatementResult> {
    this.#writer = await this.#pool.takeWriter();
    try {
      this.#pool.place.check();
      await this.#pool.sync.repair(this.#writer);
      await this.#writer.setSync(withoutSync.getStore() !== true);
      return await work(this.#writer);
    } catch (error) {
      await this.#release();
      throw error;
    }
  }

  // A failed commit (disk full) also releases the writer: Sequelize would never close this session.
  async #end(
    sql: string,
    work: (connection: SqliteConnection) => Promise<StatementResult>,
  ): Promise<StatementResult> {
    try {
      if (this.#writer?.inTransaction()) {
        const answer = await work(this.#writer);
        // Do not acknowledge a commit to files that were moved in the meantime.
        this.#pool.place.check();
        return answer;
      }
      // Sequelize sends ROLLBACK after a refused BEGIN.
      if (/^ROLLBACK/i.test(sql)) return { rows: [], statement: new Statement() };
      throw new Error('there is no open transaction to commit');
    } finally {
      await this.#release();
    }
  }

  async #release(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    if (writer) await this.#pool.giveBack(writer);
  }
}

interface StatementResult {
  rows: Record<string, unknown>[] | undefined;
  statement: Statement;
}

function tooLate(): Error {
  return new Error('a statement came after its transaction had ended');
}

function explainReadOnly(error: unknown): never {
  if (isReadOnlyFault(error)) {
    throw new Error('a write outside a transaction: wrap it in transaction()', { cause: error });
  }
  throw error;
}
