import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyBeforeMigration } from '../../src/database/snapshot.ts';
import { dialect, freshDatabaseUrl, openFreshDatabase } from '../support/database.ts';
import { type Installation, install } from '../support/installation.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';

// On PostgreSQL, idctl does not make a copy: copies are the administrator's task.
if (dialect === 'sqlite') {
  let site: Installation;
  let file: string;

  beforeEach(async () => {
    site = await install();
    file = site.database.slice('sqlite:'.length);
  });
  afterEach(() => site.close());

  const address = () => ({ url: site.database, sqliteDriver });
  const copies = () => readdirSync(dirname(file)).filter((name) => name.includes('.before-'));
  const execute = (sql: string) => {
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
  };
  /** Undoes migration 0018, so that the database is like that of an older idctl. */
  const takeBack = () =>
    execute(`
      DELETE FROM migrations WHERE name = '0018-suspensions';
      ALTER TABLE access_tokens DROP COLUMN suspended_at;
      ALTER TABLE apps DROP COLUMN suspended_at;
      ALTER TABLE scim_tokens DROP COLUMN suspended_at;`);

  test('a database is copied before it is migrated, and only its owner can read the copy', async () => {
    expect((await site.run(['migrate'])).code).toBe(0);
    expect(copies()).toEqual([]);
    takeBack();
    expect((await site.run(['migrate'])).code).toBe(0);
    expect(copies()).toEqual([
      expect.stringMatching(/^idctl\.db\.before-0018-suspensions-\d{8}T\d{6}Z$/),
    ]);
    expect(statSync(join(dirname(file), copies()[0] ?? '')).mode & 0o777).toBe(0o600);
  });

  test('the last three copies stay, and no other file is deleted', async () => {
    const other = `${file}.before-lunch`;
    new DatabaseSync(other).close();
    takeBack();
    for (const minute of [1, 2, 3, 4])
      await copyBeforeMigration(address(), new Date(Date.UTC(2030, 0, 1, 0, minute)));
    const times = copies().map((name) => name.replace(/^.*-/, ''));
    expect(times.sort()).toEqual([
      '20300101T000200Z',
      '20300101T000300Z',
      '20300101T000400Z',
      'lunch',
    ]);
  });

  test('a database without accounts is not copied', async () => {
    takeBack();
    execute('PRAGMA foreign_keys = OFF; DELETE FROM accounts');
    expect(await copyBeforeMigration(address(), new Date())).toBeNull();
    expect(
      await copyBeforeMigration({ url: await freshDatabaseUrl(), sqliteDriver }, new Date()),
    ).toBeNull();
    expect(copies()).toEqual([]);
  });

  test('an older idctl names the copy to go back to, and works after the command that it names', async () => {
    takeBack();
    const copy = (await copyBeforeMigration(address(), new Date())) ?? '';
    // This is the name of a newer idctl's copy: it contains a migration that this idctl lacks.
    const later = `${file}.before-9999-later-20300101T000000Z`;
    renameSync(copy, later);
    expect((await site.run(['migrate'])).code).toBe(0);
    execute(`INSERT INTO migrations VALUES ('9999-later', '2030-01-01')`);
    const { code, err } = await site.run(['org', 'list']);
    expect([code, err]).toEqual([
      3,
      expect.stringContaining(`go back to the copy made before the upgrade: ${later}`),
    ]);
    const [, command = ''] = /Stop the daemon and run: (.*)/.exec(err) ?? [];
    execFileSync('/bin/sh', ['-euc', command]);
    const [newer = ''] = readdirSync(dirname(file)).filter((name) => name.startsWith('newer-'));
    expect(existsSync(join(dirname(file), newer, basename(file)))).toBe(true);
    expect((await site.run(['migrate'])).code).toBe(0);
    expect((await site.run(['org', 'list'])).out).toContain('acme');
  });
}

test('copyFirst does not copy a database without accounts', async () => {
  const database = await openFreshDatabase();
  expect(await database.copyFirst(new Date())).toBeNull();
  await database.close();
});
