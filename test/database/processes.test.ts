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
  const child = databaseChild(url, 'hold', 600_000);
  await child.says();
  const write = transaction(() => OutboxItem.increment('attempts', { where: {} }));
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  write.then(end, end);
  // If the write blocked the loop, it would be refused before the lock is released here.
  for (let turn = 0; turn < 50; turn += 1) await pause(5);
  expect(hasEnded).toBe(false);
  child.process.kill('SIGKILL');
  await write;
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
