import { readFileSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { QueryTypes } from 'sequelize';
import { expect, onTestFinished, test, vi } from 'vitest';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { type Database, openDatabase } from '../../src/database/open.ts';
import {
  generationOf,
  newestGeneration,
  withDeadline,
} from '../../src/database/postgres-connection.ts';
import { databaseRefusal } from '../../src/database/refusals.ts';
import { select } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { withReason } from '../../src/errors.ts';
import {
  dialect,
  freshDatabaseUrl,
  migratedDatabaseUrl,
  openFreshDatabase,
} from '../support/database.ts';
import { hintLike } from '../support/hints.ts';
import { startPostgres } from '../support/postgres.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';

const item = () => {
  const now = new Date();
  return {
    id: crypto.randomUUID(),
    kind: 'x'.repeat(2_000),
    payload: {},
    createdAt: now,
    nextAt: now,
  };
};

const write = () => transaction(() => OutboxItem.create(item()));

/** Waits for the work; returns the codes of its refusals, and throws any other error. */
async function codesOf(work: Promise<unknown>[]): Promise<string[]> {
  const codes: string[] = [];
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'fulfilled') continue;
    const refusal = databaseRefusal(result.reason);
    if (refusal === null) throw result.reason;
    codes.push(refusal.code);
  }
  return codes;
}

async function opened(url: string): Promise<Database> {
  const database = await openDatabase({ url, sqliteDriver });
  onTestFinished(() => database.close());
  return database;
}

test('only errors of the database become refusals', () => {
  expect(databaseRefusal(new TypeError('x is not a function'))).toBeNull();
  expect(databaseRefusal('text')).toBeNull();
});

test('a refusal has a hint, and keeps its cause for the log', () => {
  const reason = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const refusal = databaseRefusal(new Error('outer', { cause: reason }));
  expect(refusal).toMatchObject({
    code: 'database_unreachable',
    hint: hintLike('database.url'),
  });
  expect(refusal?.cause).toMatchObject({ cause: reason });
});

test('the refusal of an unreadable database file names the file and the reason to the operator', () => {
  const path = '/var/lib/idctl/idctl.db';
  const reason = Object.assign(new Error('EACCES: permission denied'), {
    code: 'EACCES',
    syscall: 'open',
    path,
  });
  const refusal = databaseRefusal(reason);
  expect(refusal?.hint).toEqual(hintLike('Or run idctl as a user that can'));
  expect(refusal && withReason(refusal).message).toMatch(
    /^The database file cannot be used: \/var\/lib\/idctl\/idctl\.db may not be written by the user /,
  );
});

if (dialect === 'sqlite') {
  test('a file with overwritten pages is reported as damaged, with the restore command', async () => {
    const url = await freshDatabaseUrl();
    const file = url.replace('sqlite:', '');
    const whole = await openDatabase({ url, sqliteDriver });
    await whole.migrate();
    await whole.close();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xa5, 4096, bytes.length));
    const database = await opened(url);
    const refusal = await database
      .ping()
      .then(() => database.pending())
      .catch(databaseRefusal);
    expect(refusal).toMatchObject({
      message: 'The database file is damaged.',
      hint: hintLike(/Move the file .* away, .*-wal.*: idctl restore/),
    });
  });

  test('a file that is not a database, or cannot be opened, is database_unreachable', async () => {
    const url = await freshDatabaseUrl();
    writeFileSync(
      url.replace('sqlite:', ''),
      'this is not a database, whatever its name may say'.repeat(100),
    );
    const noDatabase = await openDatabase({ url, sqliteDriver });
    expect(await noDatabase.ping().catch(databaseRefusal)).toMatchObject({
      code: 'database_unreachable',
      message: 'The file of database.url is damaged or not a database.',
    });
    expect(await noDatabase.migrate().catch(databaseRefusal)).toMatchObject({
      code: 'database_unreachable',
    });
    await noDatabase.close();

    const folder = await opened(url.replace(/\/[^/]*$/, ''));
    expect(await folder.ping().catch(databaseRefusal)).toMatchObject({
      code: 'database_unreachable',
    });
  });

  test('on a full disk, writes fail with database_full and reads work; with space, writes work again', async () => {
    const database = await openFreshDatabase();
    onTestFinished(() => database.close());
    // SQLite reports a full disk at this limit, which applies to the writer's open connection.
    const limit = (pages: number) =>
      transaction(() => database.sequelize.query(`PRAGMA max_page_count = ${pages}`));
    await limit(1);
    const codes = await codesOf(Array.from({ length: 20 }, write));
    expect(new Set(codes)).toEqual(new Set(['database_full']));
    const written = await OutboxItem.count();
    await limit(1_000_000);
    await write();
    expect(await OutboxItem.count()).toBe(written + 1);
  });
}

if (dialect === 'postgres') {
  test('a server that is missing or refuses the login is database_unreachable', async () => {
    const url = await freshDatabaseUrl();
    const wrong = { port: '1', password: 'wrong', pathname: '/absent', hostname: 'absent.invalid' };
    for (const [part, value] of Object.entries(wrong)) {
      const changed = Object.assign(new URL(url), { [part]: value });
      const database = await openDatabase({ url: changed.href, sqliteDriver });
      expect(await database.ping().catch(databaseRefusal)).toMatchObject({
        code: 'database_unreachable',
      });
      expect(await write().catch(databaseRefusal)).toMatchObject({ code: 'database_unreachable' });
      await database.close();
    }
  });

  test('a server that ends every new connection, with whatever code, is database_unreachable', async () => {
    const url = await freshDatabaseUrl();
    const name = new URL(url).pathname.slice(1);
    const server = new pg.Client(Object.assign(new URL(url), { pathname: '/postgres' }).href);
    await server.connect();
    onTestFinished(() => server.end());
    // PostgreSQL ends them with 55000. If it cannot write its files, it does with XX000.
    await server.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
    const database = await openDatabase({ url, sqliteDriver });
    onTestFinished(() => database.close());
    expect(await database.ping().catch(databaseRefusal)).toMatchObject({
      code: 'database_unreachable',
      message: 'The database cannot be reached.',
    });
    expect(await write().catch(databaseRefusal)).toMatchObject({ code: 'database_unreachable' });
  });

  test('if connections are killed under load, their work is refused as database_unreachable, and the next writes succeed', async () => {
    const url = await migratedDatabaseUrl();
    const database = await opened(url);
    // A connection of the database would wait for its turn until the load is over.
    const killer = new pg.Client(url);
    await killer.connect();
    onTestFinished(() => killer.end());
    const load = Array.from({ length: 60 }, (_, index) =>
      index % 2 ? write() : transaction(() => database.sequelize.query('SELECT pg_sleep(0.2)')),
    );
    const codes = codesOf(load);
    const killOthers = async () => {
      const { rowCount } = await killer.query(
        `WITH others AS (
           SELECT * FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid()
         )
         SELECT pg_terminate_backend(pid) FROM others
         WHERE EXISTS (SELECT FROM others WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%')`,
      );
      return rowCount;
    };
    await expect.poll(killOthers).toBeGreaterThan(0);
    expect(new Set(await codes)).toEqual(new Set(['database_unreachable']));
    expect(await codesOf(Array.from({ length: 20 }, write))).toEqual([]);
  });

  test('a connection that the server closes before Sequelize has it does not crash the daemon, and is not used', async () => {
    const { Client } = withDeadline(pg);
    const client = new Client(await freshDatabaseUrl());
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    // Sequelize does not listen for errors of this connection yet.
    const ended = new Promise((resolve) => client.once('end', resolve));
    const database = await openFreshDatabase();
    onTestFinished(() => database.close());
    await select('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await ended;
    expect(generationOf(client)).not.toBe(newestGeneration());
  });

  test('if the server freezes, a write is refused as database_unreachable instead of hanging, and works again when the server answers', {
    timeout: 180_000,
  }, async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const database = await opened(server.url);
    await database.migrate();
    const [row] = await database.sequelize.query<{ pid: number }>(
      'SELECT pg_backend_pid() AS pid',
      {
        type: QueryTypes.SELECT,
      },
    );
    const backend = row?.pid ?? 0;
    // Freezes the backend and the server, because the write may open another connection.
    const frozen = [server.pid, backend];
    for (const one of frozen) process.kill(one, 'SIGSTOP');
    const codes = await codesOf([write()]);
    for (const one of frozen) process.kill(one, 'SIGCONT');
    expect(codes).toEqual(['database_unreachable']);
    expect(await codesOf([write(), database.ping()])).toEqual([]);
  });

  test('a write that loses its connection as the transaction begins is refused, and nothing is printed outside the log', async () => {
    const database = await openFreshDatabase();
    onTestFinished(() => database.close());
    const printed = vi.spyOn(console, 'warn').mockReturnValue();
    onTestFinished(() => printed.mockRestore());
    const endItself = 'SELECT pg_terminate_backend(pg_backend_pid())';
    database.sequelize.addHook('afterPoolAcquire', 'end', (connection) =>
      // Sequelize's types do not say that this is the driver's connection.
      (connection as pg.Client).query(endItself).then(
        () => {},
        () => {},
      ),
    );
    expect(await codesOf([write()])).toEqual(['database_unreachable']);
    database.sequelize.removeHook('afterPoolAcquire', 'end');
    expect(printed).not.toHaveBeenCalled();
    expect(await codesOf([write()])).toEqual([]);
  });

  test('a read without Sequelize that freezes, loses its connection or fails does not leave a broken connection', async () => {
    const database = await openFreshDatabase();
    onTestFinished(() => database.close());
    const pid = async () =>
      (await select<{ pid: number }>('SELECT pg_backend_pid() AS pid', []))[0]?.pid ?? 0;
    const frozen = await pid();
    process.kill(frozen, 'SIGSTOP');
    expect(await codesOf([pid()])).toEqual(['database_unreachable']);
    process.kill(frozen, 'SIGCONT');
    const ended = await pid();
    expect(await codesOf([select('SELECT pg_terminate_backend($1)', [ended])])).toEqual([
      'database_unreachable',
    ]);
    await expect(select('SELECT nonsense', [])).rejects.toThrow('nonsense');
    expect(await codesOf(Array.from({ length: 20 }, pid))).toEqual([]);
  });
}
