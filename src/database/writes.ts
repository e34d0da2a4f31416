import { randomBytes, randomUUID } from 'node:crypto';
import type { Sequelize } from 'sequelize';
import type { RefusalCode } from '../errors.ts';
import { OutboxItem } from './models/outbox-item.ts';
import { databaseRefusal } from './refusals.ts';
import { select } from './select.ts';
import { transaction, type Writes } from './transaction.ts';
import { withoutSync } from './without-sync.ts';

const patience = 10_000;
const tryEvery = 5_000;
const faults: RefusalCode[] = ['database_unreachable', 'database_busy', 'database_full'];

/** Watches the writes of a database. `clock` returns milliseconds that never go back. */
export function watchWrites(sequelize: Sequelize, clock: () => number): Writes {
  const isSqlite = sequelize.getDialect() === 'sqlite';
  let full = false;
  let failingSince: number | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let trying = false;
  const tryAgain = async () => {
    if (trying || clock() - triedAt < tryEvery) return;
    trying = true;
    triedAt = clock();
    await tryWrite(sequelize).then(
      () => {
        full = false;
      },
      // `attempt` has noticed the failure.
      () => {},
    );
    trying = false;
  };
  const ifSo = (bad: boolean) => {
    if (bad) void tryAgain();
    return bad;
  };
  return {
    attempt() {
      const begun = clock();
      let wrote = false;
      return {
        async worked() {
          if (withoutSync.getStore() === true) return;
          // On PostgreSQL, the question costs a round trip, so it is asked only if it matters.
          wrote = isSqlite || (failingSince !== undefined && (await hasWritten()));
        },
        committed() {
          if (!wrote) return;
          writtenAt = clock();
          failingSince = undefined;
        },
        failed(error) {
          const code = databaseRefusal(error)?.code;
          if (code === undefined || !faults.includes(code)) return;
          full ||= code === 'database_full';
          failingSince ??= Math.max(begun, writtenAt);
        },
      };
    },
    writable: () =>
      !ifSo(full || (failingSince !== undefined && clock() - failingSince >= patience)),
    failing: () => ifSo(full || failingSince !== undefined),
  };
}

/** PostgreSQL commits a transaction that wrote nothing even without its synchronous standby. */
async function hasWritten(): Promise<boolean> {
  const [row] = await select<{ id: string | null }>(
    'SELECT pg_current_xact_id_if_assigned() AS id',
    [],
  );
  return row?.id !== null;
}

/** Allocates space in the database and commits, without a change. Throws as a write would. */
export async function tryWrite(sequelize: Sequelize): Promise<void> {
  if (sequelize.getDialect() === 'sqlite') {
    // Nothing reads this number, but storing it writes a page.
    await transaction(() => sequelize.query('PRAGMA user_version = 0'));
    return;
  }
  let server: number | undefined;
  try {
    await transaction(async () => {
      server = await ownServer();
      const now = new Date();
      const payload = { text: randomBytes(8_000).toString('base64') };
      const item = { id: randomUUID(), kind: 'room', payload, createdAt: now, nextAt: now };
      await (await OutboxItem.create(item)).destroy();
    });
  } catch (error) {
    if (server !== undefined) await endWaiting(server).catch(() => {});
    throw error;
  }
}

/** The server process of the open transaction. */
async function ownServer(): Promise<number | undefined> {
  const [row] = await select<{ pid: number }>('SELECT pg_backend_pid() AS pid', []);
  return row?.pid;
}

/**
 * Ends a server process that is waiting for its standby. It would wait for as long as the standby
 * is away, and each trial write would take one more of the server's connections.
 */
async function endWaiting(server: number): Promise<void> {
  const waiting = "SELECT pid FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'";
  await select(`SELECT pg_terminate_backend(pid) FROM (${waiting}) AS waiting`, [server]);
}
