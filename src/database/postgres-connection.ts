import type pg from 'pg';

// A pooler such as PgBouncer refuses unknown startup parameters, and may send each transaction to
// another server process. So nothing is set at startup. Over a pooler, settings apply to one
// transaction, and statements are not named.

// This is less than Sequelize's timeout for a connection, so that this failure is reported first.
const readyWithin = 4_500;

// The driver returns 64-bit integers as text, because a number cannot hold all of them. Those that
// idctl reads are counts and sizes, which a number holds.
const bigint = 20;

const deadlines = new WeakMap<object, NodeJS.Timeout>();
const patiences = new WeakMap<object, number>();

// A server that becomes read-only may keep its connections. So each connection has a generation. If
// a connection of the newest generation finds such a server, the pool drops all of that generation.
const generations = new WeakMap<object, number>();
let newest = 0;
// The generation of connections that the server ended. It is never the newest one.
const ended = -1;

/** The generation of newly opened connections. */
export function newestGeneration(): number {
  return newest;
}

/** The generation of this connection. */
export function generationOf(connection: object): number {
  return generations.get(connection) ?? newest;
}

/** Makes the pool drop the connections of this generation before they are used again. */
export function dropGeneration(generation: number): void {
  if (generation === newest) newest += 1;
}

/**
 * The driver with a deadline: ends a new connection that is not ready in time. Sequelize forgets
 * such a connection, and it would keep the process alive.
 */
export function withDeadline(driver: typeof pg): typeof pg {
  class Client extends driver.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      generations.set(this, newest);
      // Sequelize does not always listen, and an `error` event without a listener ends the process.
      this.on('error', () => generations.set(this, ended));
      const end = () => void this.end().catch(() => {});
      deadlines.set(this, setTimeout(end, readyWithin));
      this.once('end', () => clearTimeout(deadlines.get(this)));
    }
  }
  return Object.assign(Object.create(driver), { Client });
}

/**
 * Makes a new connection return counts as numbers, and limits its statements to `patience`
 * milliseconds. Over a pooler, it only stores the limit, which each transaction then sets.
 */
export async function prepareConnection(client: pg.Client, patience: number): Promise<void> {
  client.setTypeParser(bigint, Number);
  try {
    // A pooler reports its own process as the one to cancel, not the process that answers.
    const { rows } = await client.query<{ set: string[] | null }>(
      `SELECT CASE WHEN pg_backend_pid() = $1 THEN ARRAY[${limits(patience, false)}] END AS set`,
      // The driver's types omit `processID`.
      [(client as pg.Client & { processID: number | null }).processID],
    );
    if (rows[0]?.set === null) patiences.set(client, patience);
    clearTimeout(deadlines.get(client));
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
}

/** The SQL that sets the limits in a transaction over a pooler. Null for a direct connection. */
export function limitsOfTransaction(connection: object): string | null {
  const patience = patiences.get(connection);
  return patience === undefined ? null : `SELECT ${limits(patience, true)}`;
}

/** Whether a pooler may change the server process between transactions. */
export function isPooled(connection: object): boolean {
  return patiences.has(connection);
}

function limits(patience: number, local: boolean): string {
  const milliseconds = {
    statement_timeout: patience,
    lock_timeout: patience,
    idle_in_transaction_session_timeout: patience + 25_000,
  };
  return Object.entries(milliseconds)
    .map(([name, value]) => `set_config('${name}', '${value}', ${local})`)
    .join(', ');
}
