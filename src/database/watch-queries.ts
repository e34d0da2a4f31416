import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { Sequelize, Transaction } from 'sequelize';

// A promise not awaited inside a transaction is lost or runs outside it. In tests this throws.

const started = new WeakMap<Transaction, { running: number; total: number }>();
const watched = new WeakSet<Sequelize>();

/**
 * Watches the transaction's queries, in tests only. The returned function throws if a query is
 * still running, or starts, after the work is done.
 */
export function watchQueries(sequelize: Sequelize, transaction: Transaction): () => Promise<void> {
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
