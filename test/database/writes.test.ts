import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { type Database, openDatabase } from '../../src/database/open.ts';
import { databaseRefusal } from '../../src/database/refusals.ts';
import { select } from '../../src/database/select.ts';
import {
  rehearse,
  transaction,
  transactionsInHand,
  unsynced,
} from '../../src/database/transaction.ts';
import { Refusal } from '../../src/errors.ts';
import { dialect, migratedDatabaseUrl } from '../support/database.ts';
import { databaseChild } from '../support/database-process.ts';
import { startPostgres } from '../support/postgres.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';

let url: string;
let database: Database;
/** The time of the database's clock, in milliseconds. */
let time: number;

const open = async (at: string) => {
  url = at;
  time = 1_000_000;
  database = await openDatabase({ url, sqliteDriver, clock: () => time });
};

beforeEach(async () => {
  await open(await migratedDatabaseUrl());
  const now = new Date();
  const item = { id: crypto.randomUUID(), kind: 'any', payload: {}, createdAt: now, nextAt: now };
  await transaction(() => OutboxItem.create(item));
});
afterEach(() => database.close());

const write = () => transaction(() => OutboxItem.update({ kind: 'mail' }, { where: {} }));

/** Keeps every write from the table until the returned function is called. */
async function lock(): Promise<() => Promise<unknown>> {
  if (dialect === 'sqlite') {
    const child = databaseChild(url, 'hold', 600_000);
    await child.says();
    return async () => {
      child.process.kill('SIGKILL');
      await child.ends().catch(() => {});
    };
  }
  const client = new pg.Client(url);
  await client.connect();
  await client.query('BEGIN; LOCK TABLE outbox IN EXCLUSIVE MODE');
  return () => client.end();
}

/** Lets one write fail while another process holds a lock. Returns the function that unlocks. */
async function failWrite() {
  const unlock = await lock();
  const error = await write().catch((reason: unknown) => reason);
  expect(databaseRefusal(error)?.code).toBe('database_busy');
  return unlock;
}

/** Waits for the trial write that `writable` may have started. */
const settled = async () => {
  // Not yet in hand, if it is only about to begin.
  await select('SELECT 1 AS one', []);
  await expect.poll(transactionsInHand, { timeout: 30_000 }).toBe(0);
};

describe('a database is not writable', { timeout: 60_000 }, () => {
  test('once writes were tried and none was committed for ten seconds, until a trial every five seconds is committed', async () => {
    const unlock = await failWrite();
    time += 9_999;
    expect(database.writable()).toBe(true);
    await settled();
    time += 1;
    expect(database.writable()).toBe(false);
    await settled();
    await unlock();
    // The last trial began just before this.
    time += 4_999;
    expect(database.writable()).toBe(false);
    await settled();
    expect(database.writable()).toBe(false);
    time += 1;
    expect(database.writable()).toBe(false);
    await expect.poll(() => database.writable()).toBe(true);
    expect(database.failing()).toBe(false);
  });

  // On PostgreSQL, idctl does not ask what a transaction has written while none fails.
  test.runIf(dialect === 'sqlite')(
    'only ten seconds after the last commit, even if the failed write waited for longer',
    async () => {
      const gate = Promise.withResolvers<void>();
      const committed = transaction(() => gate.promise);
      const failed = transaction(async () => {
        await committed;
        throw new Refusal('database_busy', 'The database is busy.');
      });
      time += 9_000;
      gate.resolve();
      await committed;
      await expect(failed).rejects.toThrow('The database is busy.');
      time += 9_999;
      expect([database.writable(), database.failing()]).toEqual([true, true]);
      time += 1;
      expect(database.writable()).toBe(false);
      await settled();
    },
  );

  test('only until a write is committed', async () => {
    const unlock = await failWrite();
    await unlock();
    time += 1;
    expect(database.failing()).toBe(true);
    await settled();
    // That trial was committed. The next failure begins anew.
    time += 60_000;
    expect([database.writable(), database.failing()]).toEqual([true, false]);
    await (await failWrite())();
    await write();
    time += 60_000;
    expect([database.writable(), database.failing()]).toEqual([true, false]);
  });

  test('even if transactions are committed that wait for no disk and no standby', async () => {
    const unlock = await failWrite();
    await unlock();
    // A trial runs now, and not again within five seconds.
    const again = await lock();
    expect(database.failing()).toBe(true);
    await settled();
    await again();
    time += 4_999;
    await unsynced(write);
    if (dialect === 'postgres') await transaction(() => OutboxItem.count());
    expect(database.failing()).toBe(true);
    await write();
    expect(database.failing()).toBe(false);
  });

  test('but not if the work of every transaction was refused or rehearsed', async () => {
    const refused = transaction(async () => {
      throw new Refusal('conflict', 'Two of the same name.');
    });
    await expect(refused).rejects.toThrow('Two of the same name.');
    await rehearse(() => OutboxItem.update({ kind: 'mail' }, { where: {} }));
    time += 60_000;
    expect([database.writable(), database.failing()]).toEqual([true, false]);
  });
});

test.runIf(dialect === 'postgres')(
  'a trial write fails without the synchronous standby, and does not leave a server process that waits for it',
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    await database.close();
    await open(server.url);
    await database.migrate();
    await database.tryWrite();
    const client = new pg.Client(server.url);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query("ALTER SYSTEM SET synchronous_standby_names = 'missing'");
    await client.query('SELECT pg_reload_conf()');
    const waiting = async () => {
      const sql = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
      return (await client.query(sql)).rowCount;
    };
    /** Whether a server process waited for the standby during a trial. */
    const trial = async () => {
      let [waited, ended] = [false, false];
      const code = database.tryWrite().catch((error: unknown) => databaseRefusal(error)?.code);
      void code.finally(() => {
        ended = true;
      });
      while (!ended) {
        waited ||= (await waiting()) === 1;
        await pause(10);
      }
      expect(await code).toBe('database_unreachable');
      return waited;
    };
    // On a slow machine, a trial may fail before a process waits.
    await expect.poll(trial, { timeout: 80_000 }).toBe(true);
    await expect.poll(waiting).toBe(0);
    expect(await OutboxItem.count()).toBe(0);
    await database.close();
    await open(url);
  },
);
