import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Organization } from '../../src/database/models/organization.ts';
import type { Database } from '../../src/database/open.ts';
import { databaseRefusal } from '../../src/database/refusals.ts';
import { transaction, unsynced } from '../../src/database/transaction.ts';
import { dialect, openFreshDatabase } from '../support/database.ts';

// On PostgreSQL, a commit itself waits for the disk.
describe.runIf(dialect === 'sqlite')('on SQLite', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openFreshDatabase();
  });
  afterAll(() => database.close());

  const { fdatasync } = fs;
  afterEach(() => replace(fdatasync));

  function replace(sync: typeof fdatasync) {
    fs.fdatasync = sync;
    syncBuiltinESMExports();
  }

  /** Holds each sync of a file until `end`. */
  function holdSyncs() {
    const held: [file: string, done: (error: NodeJS.ErrnoException | null) => void][] = [];
    const fake = (handle: number, done: fs.NoParamCallback) =>
      void held.push([fs.readlinkSync(`/proc/self/fd/${handle}`), done]);
    // The code does not use `__promisify__`, which the type requires.
    replace(Object.assign(fake, { __promisify__: fdatasync.__promisify__ }));
    return {
      files: () => held.map(([file]) => file),
      end: (error: NodeJS.ErrnoException | null = null) => held.shift()?.[1](error),
    };
  }

  const write = (slug: string) => () =>
    Organization.create({ id: crypto.randomUUID(), slug, name: slug, createdAt: new Date() });

  /** Whether the promise has resolved. */
  function watch(work: Promise<unknown>) {
    const seen = { done: false, work };
    work.then(
      () => {
        seen.done = true;
      },
      () => {},
    );
    return seen;
  }

  test('a write is acknowledged only once the -wal file is synced, and the next need not wait', async () => {
    const syncs = holdSyncs();
    const first = watch(transaction(write('first')));
    await expect.poll(syncs.files).toHaveLength(1);
    expect(syncs.files()[0]).toMatch(/idctl\.db-wal$/);
    const others = [watch(transaction(write('second'))), watch(transaction(write('third')))];
    await expect.poll(() => Organization.count()).toBe(3);
    // One sync serves both. It begins after their commits.
    expect(syncs.files()).toHaveLength(1);
    syncs.end();
    await first.work;
    await expect.poll(syncs.files).toHaveLength(1);
    expect(others.map(({ done }) => done)).toEqual([false, false]);
    syncs.end();
    await Promise.all(others.map(({ work }) => work));
    expect(syncs.files()).toEqual([]);
  });

  test('a write that may be lost in a power cut does not wait', async () => {
    const syncs = holdSyncs();
    await unsynced(write('quick'));
    expect(syncs.files()).toEqual([]);
  });

  test('a write that the disk does not store within ten seconds is refused, and the next one is tried', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const syncs = holdSyncs();
    const hanging = transaction(write('hangs')).catch(databaseRefusal);
    await expect.poll(syncs.files).toHaveLength(1);
    expect(database.failing()).toBe(false);
    vi.advanceTimersByTime(10_000);
    expect(await hanging).toMatchObject({ code: 'database_busy' });
    expect(database.failing()).toBe(true);
    replace(fdatasync);
    syncs.end();
    await transaction(write('stored'));
    expect(database.failing()).toBe(false);
  });

  test.for([
    ['EIO', 'database_unreachable'],
    ['ENOSPC', 'database_full'],
  ] as const)('a write that cannot be synced (%s) is refused', async ([code, refusal]) => {
    const syncs = holdSyncs();
    const failing = transaction(write(`fails-${code.toLowerCase()}`)).catch(databaseRefusal);
    await expect.poll(syncs.files).toHaveLength(1);
    syncs.end(Object.assign(new Error('no sync'), { code }));
    expect(await failing).toMatchObject({ code: refusal });
    replace(fdatasync);
    await transaction(write(`after-${code.toLowerCase()}`));
  });

  /** The files as a power cut leaves them, if the disk never wrote what `lost` added to the -wal file. */
  function cutPower(wal: string, lost: { before: Buffer; after: Buffer }): DatabaseSync {
    const copy = `${wal.replace(/-wal$/, '')}-${crypto.randomUUID()}`;
    // Reading the file of an open database in this process would drop its locks.
    execFileSync('cp', [wal.replace(/-wal$/, ''), copy]);
    const bytes = fs.readFileSync(wal);
    const from = lost.after.findIndex((byte, at) => byte !== lost.before[at]);
    const pages = lost.after.subarray(from);
    if (bytes.subarray(from, from + pages.length).equals(pages))
      bytes.fill(0, from, from + pages.length);
    fs.writeFileSync(`${copy}-wal`, bytes);
    return new DatabaseSync(copy);
  }

  test('after a failed sync, a write is acknowledged only if it does not need the lost pages', async () => {
    const syncs = holdSyncs();
    const probe = transaction(write('probe'));
    await expect.poll(syncs.files).toHaveLength(1);
    const wal = `${syncs.files()[0]}`;
    syncs.end();
    await probe;
    const before = fs.readFileSync(wal);
    const failing = transaction(write('lost')).catch(databaseRefusal);
    await expect.poll(syncs.files).toHaveLength(1);
    const after = fs.readFileSync(wal);
    // The operating system reports the failure once, and may drop the pages.
    syncs.end(Object.assign(new Error('no sync'), { code: 'EIO' }));
    await failing;
    replace(fdatasync);
    await transaction(write('acknowledged'));
    const survived = cutPower(wal, { before, after });
    const rows = survived.prepare("SELECT 1 FROM organizations WHERE slug = 'acknowledged'").all();
    survived.close();
    expect(rows).toHaveLength(1);
  });

  test('a write whose transaction began before a sync failed is refused too', async () => {
    const syncs = holdSyncs();
    const failing = transaction(write('fails')).catch(databaseRefusal);
    await expect.poll(syncs.files).toHaveLength(1);
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const open = transaction(async () => {
      await write('open')();
      begun.resolve();
      await gate.promise;
    }).catch(databaseRefusal);
    await begun.promise;
    syncs.end(Object.assign(new Error('no sync'), { code: 'EIO' }));
    expect(await failing).toMatchObject({ code: 'database_unreachable' });
    replace(fdatasync);
    gate.resolve();
    expect(await open).toMatchObject({ code: 'database_unreachable' });
    await transaction(write('repaired'));
  });
});
