import { stat, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Organization } from '../../src/database/models/organization.ts';
import { addCrowd } from '../support/crowd.ts';
import { copyOfDatabase, dialect } from '../support/database.ts';
import { type Installation, install } from '../support/installation.ts';
import {
  type BothKinds,
  changeAt,
  interruptions,
  killAndRunAgain,
  moveTo,
  otherKind,
  startBothKinds,
  withoutPassword,
} from '../support/move.ts';
import { postgresMissing } from '../support/postgres.ts';

// A move survives kills and other processes, and does not change a value.

const crowd = 250;
const missing = (await postgresMissing()) !== null;
let site: Installation;
let both: BothKinds;

beforeAll(async () => {
  if (missing) return;
  both = await startBothKinds();
  let organization = '';
  site = await install({
    prepare: async () => {
      organization = (await Organization.findAll())[0]?.id ?? '';
    },
  });
  await addCrowd(site.database, organization, crowd);
}, 120_000);
afterAll(async () => {
  await site?.close();
  await both?.stop();
});

const at = (database: string) => ({ IDCTL_DATABASE: database });
const rowsIn = async (database: string, table: string) =>
  Number((await site.query(`SELECT count(*) AS n FROM ${table}`, database))[0]?.['n']);

describe.skipIf(missing)('database move', { timeout: 180_000 }, () => {
  test('to the other kind, back, and to the same kind does not change a checksum', async () => {
    const from = await copyOfDatabase(site.database);
    const there = await both.fresh(otherKind);
    const back = await both.fresh(dialect);
    const again = await both.fresh(dialect);
    const sums: Map<string, string>[] = [];
    for (const [old, to] of [
      [from, there],
      [there, back],
      [back, again],
    ] as const) {
      const { code, out, err } = await moveTo(site, to, at(old), '--json');
      expect([code, err]).toEqual([0, expect.any(String)]);
      const tables: { name: string; checksum: string }[] = JSON.parse(out).tables;
      // Each move adds an event.
      const still = tables.filter(({ name }) => name !== 'events');
      sums.push(new Map(still.map(({ name, checksum }) => [name, checksum])));
    }
    expect(sums[1]).toEqual(sums[0]);
    expect(sums[2]).toEqual(sums[0]);
    const files = [from, there, back, again].filter((url) => url.startsWith('sqlite:'));
    for (const url of files)
      expect((await stat(url.slice('sqlite:'.length))).mode & 0o777).toBe(0o600);
    const columns = 'name, email, created_at, awaits_code FROM accounts ORDER BY id';
    expect(await site.query(`SELECT ${columns}`, again)).toEqual(
      await site.query(`SELECT ${columns}`, from),
    );
  });

  test('that is killed at any statement is completed by the next run, with all data in one database', async () => {
    const { statements, begin } = await interruptions(site, both, otherKind);
    const anywhere = () => 1 + Math.floor(Math.random() * statements);
    for (const killAt of [anywhere(), anywhere(), statements]) {
      const move = await begin();
      await killAndRunAgain(move, killAt);
      expect([killAt, await rowsIn(move.to, 'accounts')]).toEqual([killAt, crowd + 1]);
      const moves = await rowsIn(move.to, `events WHERE kind = 'database.moved'`);
      expect([killAt, moves]).toEqual([killAt, 1]);
    }
  });

  test('leaves an unfinished copy if killed: commands refuse the copy and name the next step, and only the same move overwrites it', async () => {
    const { statements, begin } = await interruptions(site, both, otherKind);
    const move = await begin();
    await move.run(Math.floor(0.8 * statements));
    for (const words of [['serve'], ['org', 'list']]) {
      const { code, err } = await site.run(words, '', at(move.to));
      expect([code, err]).toEqual([
        3,
        expect.stringContaining(
          `A move from ${withoutPassword(move.from)} into this database is unfinished`,
        ),
      ]);
      expect(err).toContain('run the same move again');
    }
    const other = await moveTo(site, move.to, at(await copyOfDatabase(site.database)));
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('is not empty')]);
    // The old database still works, and later writes to it are moved too.
    await site.run(['org', 'create', 'Late Ltd'], '', at(move.from));
    expect((await move.run()).code).toBe(0);
    expect(await rowsIn(move.to, `organizations WHERE name = 'Late Ltd'`)).toBe(1);
  });

  test('after a daemon was killed, works at once on SQLite; on PostgreSQL, it is refused until a time that the message names', async () => {
    const from = await copyOfDatabase(site.database);
    const daemon = await site.serve(at(from));
    // A daemon reports itself shortly after it is ready.
    await expect.poll(() => rowsIn(from, 'daemons')).toBe(1);
    process.kill(daemon.pid, 'SIGKILL');
    await daemon.stop().catch(() => null);
    const to = await both.fresh(otherKind);
    const { code, err } = await moveTo(site, to, at(from));
    if (dialect === 'sqlite') expect([code, err]).toEqual([0, expect.any(String)]);
    else
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/If it was killed, wait until \d\d:\d\d:\d\d UTC/),
      ]);
    await changeAt(from, 'DELETE FROM daemons').catch(() => null);
    expect((await moveTo(site, to, at(from))).code).toBe(0);
  });

  test('is refused while another process has the database open', async () => {
    const from = await copyOfDatabase(site.database);
    const to = await both.fresh(otherKind);
    const hold = await holdOpen(from);
    const { code, err } = await moveTo(site, to, at(from));
    await hold();
    expect([code, err]).toEqual([1, expect.stringContaining('Another process uses this database')]);
  });

  test.runIf(dialect === 'postgres')(
    'stops writes by a process that has the moved database open',
    async () => {
      const from = await copyOfDatabase(site.database);
      const client = new pg.Client(from);
      await client.connect();
      expect((await moveTo(site, await both.fresh('sqlite'), at(from))).code).toBe(0);
      await expect(client.query('DELETE FROM sessions')).rejects.toMatchObject({ code: '25006' });
      await client.end();
    },
  );

  test('X8 refuses a file that already exists at the new address, even if it is empty', async () => {
    const from = await copyOfDatabase(site.database);
    for (const [text, mode] of [
      ['', 0o600],
      ['', 0o666],
      ['no database', 0o644],
    ] as const) {
      const to = await both.fresh('sqlite');
      await writeFile(to.slice('sqlite:'.length), text, { mode });
      const { code, err } = await moveTo(site, to, at(from));
      expect([code, err]).toEqual([1, expect.stringContaining('already exists')]);
    }
  });
});

/** Holds the database open until the returned function is called. */
async function holdOpen(database: string): Promise<() => Promise<unknown>> {
  if (database.startsWith('sqlite:')) {
    const sqlite = new DatabaseSync(database.slice('sqlite:'.length));
    // An open connection is enough, even without a transaction.
    sqlite.prepare('SELECT count(*) FROM accounts').get();
    return async () => sqlite.close();
  }
  const client = new pg.Client(database);
  await client.connect();
  await client.query('BEGIN');
  await client.query("UPDATE accounts SET name = name WHERE email = 'olga@acme.test'");
  return () => client.end();
}
