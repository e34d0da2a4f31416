import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { type Database, openDatabase } from '../../src/database/open.ts';
import { databaseRefusal } from '../../src/database/refusals.ts';
import { transaction } from '../../src/database/transaction.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { databaseChild } from '../support/database-process.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';

let url: string;
let database: Database;

beforeEach(async () => {
  url = await freshDatabaseUrl();
  database = await openDatabase({ url, sqliteDriver });
  await database.migrate();
  const now = new Date();
  await transaction(() =>
    OutboxItem.create({
      id: crypto.randomUUID(),
      kind: 'mail',
      payload: {},
      createdAt: now,
      nextAt: now,
    }),
  );
});

afterEach(() => database.close());

test('two processes increment one number 800 times in all, and no increment is lost', {
  timeout: 180_000,
}, async () => {
  const children = [databaseChild(url, 'increment', 400), databaseChild(url, 'increment', 400)];
  await Promise.all(children.map((child) => child.ends()));
  expect((await OutboxItem.findOne())?.attempts).toBe(800);
});

test('the event loop stays free while another process holds the write lock, and the write then succeeds', async () => {
  const held = 1_500;
  const child = databaseChild(url, 'hold', held);
  await child.says();
  const watch = longestPause();
  const started = performance.now();
  await transaction(() => OutboxItem.increment('attempts', { where: {} }));
  const waited = performance.now() - started;
  expect(watch.stop()).toBeLessThan(held / 3);
  // The write waited for the lock.
  expect(waited).toBeGreaterThan(held / 3);
  expect((await OutboxItem.findOne())?.attempts).toBe(1);
});

test('reads succeed while another process holds the write lock', async () => {
  const child = databaseChild(url, 'hold', 30_000);
  await child.says();
  expect((await OutboxItem.findOne())?.kind).toBe('mail');
});

test('a write that waits longer than five seconds for a lock is refused as database_busy', async () => {
  const child = databaseChild(url, 'hold', 30_000);
  await child.says();
  const refused = await transaction(() => OutboxItem.increment('attempts', { where: {} })).catch(
    databaseRefusal,
  );
  expect(refused).toMatchObject({ code: 'database_busy', retryAfter: 5 });
  child.process.kill('SIGKILL');
  await child.ends().catch(() => {});
  await transaction(() => OutboxItem.increment('attempts', { where: {} }));
  expect(await OutboxItem.findOne()).toMatchObject({ kind: 'mail', attempts: 1 });
});

/** Measures how long the event loop was blocked at most. Time in which it waited does not count. */
function longestPause(): { stop(): number } {
  let longest = 0;
  let running = true;
  const watch = async () => {
    while (running) {
      const before = performance.eventLoopUtilization();
      await pause(5);
      longest = Math.max(longest, performance.eventLoopUtilization(before).active);
    }
  };
  void watch();
  return {
    stop() {
      running = false;
      return longest;
    },
  };
}
