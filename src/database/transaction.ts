import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { Sequelize, Transaction } from 'sequelize';
import { databaseRefusal } from './refusals.ts';
import { takeTurns } from './turns.ts';

// The transaction of the running work is ambient: every query made inside takes part in it, and nobody
// passes it on. On SQLite writers take turns in this process before they compete with other processes.

const ambient = new AsyncLocalStorage<Map<string, unknown>>();

/** Set around a transaction whose commit need not reach the disk before it counts. */
export const withoutSync = new AsyncLocalStorage<boolean>();

// Sequelize refuses a raw AsyncLocalStorage; these four are what it calls.
Sequelize.useCLS({
  get: (key: string) => ambient.getStore()?.get(key),
  set: (key: string, value: unknown) => ambient.getStore()?.set(key, value),
  run: (work: () => unknown) => ambient.run(new Map(ambient.getStore()), work),
  bind: AsyncLocalStorage.bind,
});

type Begin = <T>(work: () => Promise<T>) => Promise<T>;

let begin: Begin | undefined;
let inHand = 0;

/**
 * Runs the work in one transaction: all of its writes or none. Inside another transaction it joins that one.
 * Refuses `database_busy` when other writers do not make way in time.
 */
export async function transaction<T>(work: () => Promise<T>): Promise<T> {
  if (isInTransaction()) return work();
  if (begin === undefined) throw new Error('no database is open');
  return begin(work);
}

/**
 * As `transaction`, for what a power cut may take back and nothing else may: nobody waits until the disk has it.
 * Inside another transaction it is as safe as that one.
 */
export function unsynced<T>(work: () => Promise<T>): Promise<T> {
  return withoutSync.run(true, () => transaction(work));
}

/** Runs the work in a transaction that is always taken back; the answer is what it would have been. */
export function rehearse<T>(work: () => Promise<T>): Promise<T> {
  return transactionIf(work, () => false);
}

/** Runs the work in a transaction, and takes back what it wrote unless its result is one to keep. */
export async function transactionIf<T>(
  work: () => Promise<T>,
  keep: (result: T) => boolean,
): Promise<T> {
  const performed: { result?: T } = {};
  const takenBack = new Error('taken back');
  const running = transaction(async () => {
    const result = await work();
    performed.result = result;
    if (!keep(result)) throw takenBack;
  });
  await running.catch((error: unknown) => {
    if (error !== takenBack) throw error;
  });
  // Set: the only way to get here is through the line above that sets it.
  return performed.result as T;
}

/** Throws (a bug, not a refusal) when a transaction is open; `what` names what must not happen inside one. */
export function assertNoTransaction(what: string): void {
  if (isInTransaction()) throw new Error(`${what} inside a transaction`);
}

/** Makes the database the one that `transaction` works on; the function returned ends that, after the last writer. */
export function serveTransactions(sequelize: Sequelize): () => Promise<void> {
  if (begin !== undefined) throw new Error('a database is already open in this process');
  const turn: Begin = sequelize.getDialect() === 'sqlite' ? takeTurns(10_000) : (work) => work();
  begin = async (work) => {
    inHand += 1;
    try {
      return await turn(() => transactionOn(sequelize, work));
    } finally {
      inHand -= 1;
    }
  };
  return async () => {
    begin = undefined;
    await turn(async () => {});
  };
}

/** How many transactions are open or wait for their turn. */
export function transactionsInHand(): number {
  return inHand;
}

/** Runs the work in one transaction of this Sequelize, whichever serves `transaction`. */
export async function transactionOn<T>(sequelize: Sequelize, work: () => Promise<T>): Promise<T> {
  const opened = await sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE });
  if (withoutSync.getStore() && sequelize.getDialect() === 'postgres')
    await sequelize.query('SET LOCAL synchronous_commit TO OFF', { transaction: opened });
  const noneInFlight = watchQueries(sequelize, opened);
  let result: T;
  try {
    result = await ambient.run(new Map([['transaction', opened]]), work);
    await noneInFlight();
  } catch (error) {
    await abandon(sequelize, opened, error);
    throw error;
  }
  await opened.commit();
  return result;
}

/** Whether a transaction is open here. */
export function isInTransaction(): boolean {
  return Boolean(ambient.getStore()?.get('transaction'));
}

async function abandon(sequelize: Sequelize, opened: Transaction, reason: unknown): Promise<void> {
  try {
    if (isLost(sequelize, reason))
      await sequelize.connectionManager.destroyConnection(connectionOf(opened));
    else await opened.rollback();
  } catch {
    // The reason for abandoning is what the caller must hear of.
  }
}

// A ROLLBACK over a connection to PostgreSQL that is gone would only fail once more; the server does it by itself.
function isLost(sequelize: Sequelize, reason: unknown): boolean {
  return (
    sequelize.getDialect() === 'postgres' &&
    databaseRefusal(reason)?.code === 'database_unreachable'
  );
}

function connectionOf(opened: Transaction): object {
  // Sequelize keeps it there; its types leave it out.
  return (opened as Transaction & { connection: object }).connection;
}

// A promise not awaited inside a transaction is lost or runs outside it. Tests make that loud.

const started = new WeakMap<Transaction, { running: number; total: number }>();
const watched = new WeakSet<Sequelize>();

/**
 * Watches the transaction's queries, in tests only. The function returned, called when its work is done,
 * throws if a query is still running or starts after all.
 */
function watchQueries(sequelize: Sequelize, transaction: Transaction): () => Promise<void> {
  if (process.env['NODE_ENV'] !== 'test') return async () => {};
  countQueries(sequelize);
  const queries = { running: 0, total: 0 };
  started.set(transaction, queries);
  return async () => {
    const { running, total } = queries;
    await turnOfTheLoop();
    if (running > 0 || queries.total > total) {
      throw new Error(
        'a transaction ended with queries in flight: a promise inside it was not awaited',
      );
    }
  };
}

function countQueries(sequelize: Sequelize): void {
  if (watched.has(sequelize)) return;
  watched.add(sequelize);
  sequelize.addHook('beforeQuery', ({ transaction }) => {
    const queries = transaction ? started.get(transaction) : undefined;
    if (!queries) return;
    queries.running += 1;
    queries.total += 1;
  });
  sequelize.addHook('afterQuery', ({ transaction }) => {
    const queries = transaction ? started.get(transaction) : undefined;
    if (queries) queries.running -= 1;
  });
}
