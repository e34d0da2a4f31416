import type { Sequelize } from 'sequelize';

/** Reads by plain SQL with `$1` parameters, outside of transactions. */
type Read = (sql: string, bind: readonly unknown[], how?: { prepared: true }) => Promise<object[]>;

const reads = new WeakMap<Sequelize, Read>();

/** Says how this database is read past Sequelize, which costs more than the query that runs at every request. */
export function readDirectly(sequelize: Sequelize, read: Read): void {
  reads.set(sequelize, read);
}

/** How this database is read past Sequelize, or undefined where its driver cannot. */
export function directReadOf(sequelize: Sequelize): Read | undefined {
  return reads.get(sequelize);
}

/** Reads by a query that is given up after so many milliseconds: null then. */
type ReadInTime = (
  query: { sql: string; bind: readonly unknown[] },
  milliseconds: number,
) => Promise<object[] | null>;

const readsInTime = new WeakMap<Sequelize, ReadInTime>();

/** Says how this database gives a query up. */
export function limitReads(sequelize: Sequelize, read: ReadInTime): void {
  readsInTime.set(sequelize, read);
}

/** How this database gives a query up, or undefined where the thread of `selectWithin` does it. */
export function readInTimeOf(sequelize: Sequelize): ReadInTime | undefined {
  return readsInTime.get(sequelize);
}
