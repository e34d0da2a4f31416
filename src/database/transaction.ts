import { AsyncLocalStorage } from 'node:async_hooks';
import PQueue from 'p-queue';
import { Sequelize } from 'sequelize';
import { Refusal } from '../errors.ts';
import { waitForTurn } from '../host/queue.ts';
import {
  abandonTransaction,
  beginTransaction,
  endTransaction,
  type Opened,
} from './opened-transaction.ts';
import { countQuery, watchQueries } from './watch-queries.ts';
import { withoutSync } from './without-sync.ts';

/** Tracks whether the database stores writes. */
export interface Writes {
  /** Call it when a transaction begins, and report to the result how the transaction ends. */
  attempt(): Attempt;
  /**
   * False after a write that failed for lack of space, and after ten seconds in which no write
   * succeeded although some were tried. Then a trial write runs every five seconds until one is
   * committed.
   */
  writable(): boolean;
  /** Whether a write has failed since the last commit. Then trial writes run too. */
  failing(): boolean;
}

/** One transaction. */
interface Attempt {
  /** Call it inside the transaction, after its work. */
  worked(): Promise<void>;
  committed(): void;
  failed(error: unknown): void;
}

// The transaction is ambient: every query in the work joins it, and callers need not pass it on. On
// SQLite, the writers of this process queue up before they compete with other processes.

const ambient = new AsyncLocalStorage<Map<string, unknown>>();

// Sequelize rejects a raw AsyncLocalStorage, but calls only these four functions.
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
 * Runs the work in one transaction. Inside another transaction, the work joins that transaction.
 * Refuses with `database_busy` if other writers delay it too long.
 */
export async function transaction<T>(work: () => Promise<T>): Promise<T> {
  if (isInTransaction()) return work();
  if (begin === undefined) throw new Error('no database is open');
  const first = requirements.getStore();
  if (first === undefined || first.over) return begin(work);
  return begin(async () => {
    await first.require();
    const result = await work();
    if (first.toEnd) await first.require();
    return result;
  });
}

interface Requirement {
  require: () => Promise<unknown>;
  /** Requires it again at the end of each transaction. */
  toEnd: boolean;
  /** Whether the work has ended. */
  over: boolean;
}

/** What each transaction of some work requires. */
const requirements = new AsyncLocalStorage<Requirement>();

/**
 * Runs the work. Each transaction that begins during it first calls `require`, inside the
 * transaction. What was required before may no longer be so when a transaction that waited begins.
 * With `toEnd`, it is required at the end too: on PostgreSQL a transaction also waits for rows.
 */
export async function requiringFirst<T>(
  require: () => Promise<unknown>,
  work: () => Promise<T>,
  { toEnd }: Pick<Requirement, 'toEnd'> = { toEnd: false },
): Promise<T> {
  const requirement = { require, toEnd, over: false };
  try {
    return await requirements.run(requirement, work);
  } finally {
    // Timers and queues that the work began keep its storage.
    requirement.over = true;
  }
}

/**
 * Like `transaction`, but the commit does not wait for the disk, so a power failure may undo it.
 * Inside another transaction, it is as durable as that transaction.
 */
export function unsynced<T>(work: () => Promise<T>): Promise<T> {
  return withoutSync.run(true, () => transaction(work));
}

const rehearsing = new AsyncLocalStorage<boolean>();

/** Runs the work in a transaction that is always rolled back, and returns its result. */
export function rehearse<T>(work: () => Promise<T>): Promise<T> {
  return rehearsing.run(true, () => transactionIf(work, () => false));
}

/**
 * Whether the work is a rehearsal, which is rolled back completely, including counts of wrong
 * codes.
 */
export function isRehearsed(): boolean {
  return rehearsing.getStore() === true;
}

/** Runs the work in a transaction, and rolls it back unless `keep` accepts the result. */
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
  // `work` has succeeded here, so the result is set.
  return performed.result as T;
}

/**
 * Throws an error (a bug, not a refusal) if a transaction is open. `what` names the call that must
 * not run inside one.
 */
export function assertNoTransaction(what: string): void {
  if (isInTransaction()) throw new Error(`${what} inside a transaction`);
}

/** Functions that run around each transaction. */
interface Around extends Pick<Writes, 'attempt'> {
  /** Runs before the transaction, and may refuse. */
  before(): Promise<void>;
  /** Resolves once all commits before the call are on the disk. Absent if commits wait themselves. */
  settled?: (() => Promise<void>) | undefined;
}

/** Makes `transaction` use this database, until the returned function is called. */
export function serveTransactions(sequelize: Sequelize, around: Around): () => Promise<void> {
  if (begin !== undefined) throw new Error('a database is already open in this process');
  const turn: Begin = sequelize.getDialect() === 'sqlite' ? oneAtATime() : (work) => work();
  begin = async (work) => {
    inHand += 1;
    const attempt = around.attempt();
    const waits = withoutSync.getStore() !== true;
    const settled = waits ? around.settled : undefined;
    try {
      // `before` belongs to the turn, so that the last turn runs after all earlier transactions.
      const result = await turn(async () => {
        await around.before();
        const working = async () => {
          const done = await work();
          await attempt.worked();
          return done;
        };
        return transactionOn(sequelize, working, { synced: waits && settled === undefined });
      });
      // After the turn: the next transaction does not wait for the disk.
      await settled?.();
      attempt.committed();
      return result;
    } catch (error) {
      attempt.failed(error);
      throw error;
    } finally {
      inHand -= 1;
    }
  };
  return async () => {
    begin = undefined;
    await turn(async () => {});
  };
}

function oneAtATime(): Begin {
  const writers = new PQueue({ concurrency: 1 });
  return (work) => waitForTurn([() => writers], work, { patience: 10_000, late: tooMuchToWrite });
}

function tooMuchToWrite(): Refusal {
  return new Refusal('database_busy', 'Too many writes are waiting for the database.', {
    hint: 'Try again in a few seconds.',
    retryAfter: 2,
  });
}

/** The number of transactions that are open or wait for their turn. */
export function transactionsInHand(): number {
  return inHand;
}

/** Runs the work in a transaction of this Sequelize, even if `transaction` uses another one. */
export async function transactionOn<T>(
  sequelize: Sequelize,
  work: () => Promise<T>,
  { synced } = { synced: withoutSync.getStore() !== true },
): Promise<T> {
  const opened = await beginTransaction(sequelize, { synced });
  const noneInFlight = watchQueries(sequelize, opened);
  let result: T;
  try {
    result = await ambient.run(new Map([['transaction', opened]]), work);
    await noneInFlight();
  } catch (error) {
    await abandonTransaction(sequelize, opened, error);
    throw error;
  }
  await endTransaction(sequelize, opened, 'COMMIT');
  return result;
}

/** Whether this code runs inside a transaction. */
export function isInTransaction(): boolean {
  return openHere() !== undefined;
}

/** Runs a statement on the connection of the current transaction. */
export async function onOpenConnection<T>(
  statement: (connection: object) => Promise<T>,
): Promise<T> {
  const opened = openHere();
  if (opened === undefined) throw new Error('no transaction is open');
  // Another transaction may use its connection by now.
  if (opened.finished) throw new Error('a statement came after its transaction had ended');
  const done = countQuery(opened);
  try {
    return await statement(opened.connection);
  } finally {
    done();
  }
}

/** The open transaction, as a key for what is known about it; undefined if none is open. */
export function openTransaction(): object | undefined {
  return openHere();
}

function openHere(): Opened | undefined {
  // Only Sequelize and `transactionOn` set this value.
  return ambient.getStore()?.get('transaction') as Opened | undefined;
}
