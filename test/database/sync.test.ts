import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
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
});
