import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openerOf } from '../../src/database/connect.ts';
import { Organization } from '../../src/database/models/organization.ts';
import type { Database } from '../../src/database/open.ts';
import { databaseRefusal } from '../../src/database/refusals.ts';
import { sqliteDriver as openDriver } from '../../src/database/sqlite-driver.ts';
import { transaction, unsynced } from '../../src/database/transaction.ts';
import { withoutSync } from '../../src/database/without-sync.ts';
import { dialect, openFreshDatabase } from '../support/database.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';

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

  /** Makes the next sync fail, and replaces what was written to the -wal file since then by zeros. */
  function failDropping(wal: string) {
    const before = fs.readFileSync(wal);
    const fake = (_handle: number, done: fs.NoParamCallback) => {
      const after = fs.readFileSync(wal);
      const from = after.findIndex((byte, at) => byte !== before[at]);
      const handle = fs.openSync(wal, 'r+');
      fs.writeSync(handle, Buffer.alloc(after.length - from), 0, after.length - from, from);
      fs.closeSync(handle);
      done(Object.assign(new Error('no sync'), { code: 'EIO' }));
    };
    replace(Object.assign(fake, { __promisify__: fdatasync.__promisify__ }));
  }

  /** The slugs that the next process finds. */
  function foundNext(file: string) {
    const copy = `${file}-${crypto.randomUUID()}`;
    execFileSync('cp', [file, copy]);
    execFileSync('cp', [`${file}-wal`, `${copy}-wal`]);
    const next = new DatabaseSync(copy);
    const [check] = next.prepare('PRAGMA integrity_check').all();
    expect(check).toEqual({ integrity_check: 'ok' });
    const rows = next.prepare('SELECT slug FROM organizations').all();
    next.close();
    return rows.map(({ slug }) => slug);
  }

  /** Whether this work makes the process end without closing its connections. */
  async function staysOpen(work: () => Promise<void>): Promise<boolean> {
    const before = process.listeners('exit');
    await work();
    const [end] = process.listeners('exit').filter((each) => !before.includes(each));
    if (end !== undefined) process.removeListener('exit', end);
    return end !== undefined;
  }

  test('after a failed sync whose pages the system has dropped, the database file stays whole', async () => {
    const syncs = holdSyncs();
    const kept = transaction(write('kept'));
    await expect.poll(syncs.files).toHaveLength(1);
    const wal = `${syncs.files()[0]}`;
    syncs.end();
    await kept;
    failDropping(wal);
    const large = { id: crypto.randomUUID(), slug: 'dropped', name: 'x'.repeat(50_000) };
    const dropped = () => Organization.create({ ...large, createdAt: new Date() });
    await expect(transaction(dropped)).rejects.toThrow();
    replace(fdatasync);
    const refused = await transaction(write('next')).catch(databaseRefusal);
    expect(refused).toMatchObject({
      ...{ code: 'database_unreachable', message: expect.stringContaining('has lost a change') },
    });
    const file = wal.replace(/-wal$/, '');
    expect(foundNext(file)).toContain('kept');
    expect(foundNext(file)).not.toContain('dropped');
    expect(await staysOpen(() => database.close())).toBe(true);
    expect(foundNext(file)).toContain('kept');
  });

  test('a process that has read nothing leaves the database file whole too', async () => {
    const file = join(fs.mkdtempSync(join(tmpdir(), 'idctl-sync-')), 'a.db');
    const open = await openerOf({ url: `sqlite:${file}`, sqliteDriver });
    const driver = openDriver(open, { file, foreignKeys: true, patience: 1000 });
    const { Database } = driver.module as { Database: new (...of: unknown[]) => object };
    const run = async (sql: string) => {
      const connection = new Database(file, 0, () => {});
      const statements = ['BEGIN IMMEDIATE', sql, 'COMMIT'];
      // As `transaction` does.
      await withoutSync.run(true, async () => {
        for (const each of statements) await driver.run(connection, each, []);
      });
      await driver.settled();
    };
    await run('CREATE TABLE organizations (slug)');
    await run("INSERT INTO organizations VALUES ('kept')");
    failDropping(`${file}-wal`);
    await expect(
      run('INSERT INTO organizations VALUES (hex(randomblob(20000)))'),
    ).rejects.toThrow();
    expect(await staysOpen(driver.close)).toBe(true);
    expect(foundNext(file)).toEqual(['kept']);
  });
});
