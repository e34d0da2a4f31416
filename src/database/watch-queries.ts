import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Sequelize, Transaction } from 'sequelize';

// A query that the work does not await is lost, or runs outside the transaction. In tests, this
// throws.

const started = new WeakMap<Transaction, { running: number; total: number }>();
const watched = new WeakSet<Sequelize>();

/**
 * Watches the queries of a transaction, only in tests. The returned function throws if a query is
 * still running or starts after the work.
 */
export function watchQueries(sequelize: Sequelize, transaction: Transaction): () => Promise<void> {
  if (process.env['NODE_ENV'] !== 'test') return async () => {};
  countQueries(sequelize);
  const queries = { running: 0, total: 0 };
  started.set(transaction, queries);
  return async () => {
    const { running, total } = queries;
    await yieldToEventLoop();
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
  const counted = new WeakMap<object, () => void>();
  sequelize.addHook('beforeQuery', (options) => {
    if (options.transaction) counted.set(options, countQuery(options.transaction));
  });
  sequelize.addHook('afterQuery', (options) => counted.get(options)?.());
}

/** Counts a query, if the transaction is watched. Call the result when the query ends. */
export function countQuery(transaction: Transaction): () => void {
  const queries = started.get(transaction);
  if (queries === undefined) return () => {};
  queries.running += 1;
  queries.total += 1;
  return () => {
    queries.running -= 1;
  };
}
