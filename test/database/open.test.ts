import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { QueryTypes } from 'sequelize';
import { expect, test } from 'vitest';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { openDatabase } from '../../src/database/open.ts';
import { transaction } from '../../src/database/transaction.ts';
import { dialect, freshDatabaseUrl, openFreshDatabase } from '../support/database.ts';
import { hintLike } from '../support/hints.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';

const optional: string = 'sqlite3';
const isInstalled = await import(optional).then(
  () => true,
  () => false,
);
const fileOf = (url: string) => url.replace('sqlite:', '');
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

if (dialect === 'sqlite') {
  test('X8 the database, its -wal and its -shm are readable by their owner only, whatever the umask', async () => {
    const url = (await freshDatabaseUrl()).replace('idctl.db', 'new/folder/idctl.db');
    const umask = process.umask(0);
    const database = await openDatabase({ url, sqliteDriver });
    try {
      await database.migrate();
      await OutboxItem.count();
      await transaction(() => OutboxItem.update({ kind: 'any' }, { where: {} }));
      const file = fileOf(url);
      expect([file, `${file}-wal`, `${file}-shm`].map(modeOf)).toEqual(['600', '600', '600']);
      expect(modeOf(dirname(file))).toBe('700');
    } finally {
      process.umask(umask);
      await database.close();
    }
  });

  test('every connection uses a write-ahead log, syncs and foreign keys, and does not wait inside SQLite', async () => {
    const database = await openFreshDatabase();
    const settings = async () => {
      const names = ['journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout'];
      const ask = (name: string) =>
        database.sequelize.query(`PRAGMA ${name}`, { type: QueryTypes.SELECT });
      return (await Promise.all(names.map(ask))).flat().flatMap(Object.values);
    };
    try {
      expect(await settings()).toEqual(['wal', 2, 1, 0]);
      // A commit does not wait for the disk, but its acknowledgement does (sync.test.ts).
      expect(await transaction(settings)).toEqual(['wal', 1, 1, 0]);
    } finally {
      await database.close();
    }
  });

  // /proc/locks names the file of a lock by its inode.
  test.skipIf(!existsSync('/proc/locks'))(
    'closing a second connection keeps the locks of the first, so the -wal stays',
    async () => {
      const url = await freshDatabaseUrl();
      const database = await openDatabase({ url, sqliteDriver });
      try {
        await database.migrate();
        await transaction(() => OutboxItem.update({ kind: 'any' }, { where: {} }));
        await OutboxItem.count();
        const { ino } = statSync(fileOf(url));
        const locks = readFileSync('/proc/locks', 'utf8')
          .split('\n')
          .map((line) => line.trim().split(/\s+/));
        const ours = locks.filter(
          (words) => words[4] === `${process.pid}` && words[5]?.endsWith(`:${ino}`),
        );
        expect(ours.map((words) => words[3])).toEqual(['READ']);
      } finally {
        await database.close();
      }
    },
  );

  test.skipIf(isInstalled)(
    'sqliteDriver sqlite3 without its package is refused, with the command that installs it',
    async () => {
      await expect(
        openDatabase({ url: await freshDatabaseUrl(), sqliteDriver: 'sqlite3' }),
      ).rejects.toMatchObject({
        code: 'config_invalid',
        hint: hintLike('npm install --no-save sqlite3@6.0.1'),
      });
    },
  );
}

test('a process can have only one database open, and can open another after it closes the first', async () => {
  const address = { url: await freshDatabaseUrl(), sqliteDriver } as const;
  const database = await openDatabase(address);
  await expect(openDatabase(address)).rejects.toThrow('already open');
  await database.close();
  await database.close();
  await expect(transaction(async () => {})).rejects.toThrow('no database is open');
  const again = await openDatabase(address);
  await again.ping();
  await again.close();
});

test('values read back are the values written', async () => {
  const database = await openFreshDatabase();
  const item = {
    id: crypto.randomUUID(),
    kind: 'O\'Hara — `"$1" ?',
    payload: { nested: { list: [1, 2.5, null, true], text: 'ä' } },
    attempts: 2 ** 31 - 1,
    createdAt: new Date('2026-11-20T10:11:12.345Z'),
    nextAt: new Date(0),
  };
  try {
    await transaction(() => OutboxItem.create(item));
    expect((await OutboxItem.findOne())?.get()).toEqual(item);
    const found = await OutboxItem.findAll({ where: { createdAt: item.createdAt } });
    expect(found).toHaveLength(1);
    const [rows] = await database.sequelize.query(
      'SELECT id FROM outbox WHERE created_at = $1 AND next_at < $2',
      {
        bind: [item.createdAt, item.createdAt],
      },
    );
    expect(rows).toEqual([{ id: item.id }]);
  } finally {
    await database.close();
  }
});
