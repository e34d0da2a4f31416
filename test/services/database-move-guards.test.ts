import { chmod, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { Organization } from '../../src/database/models/organization.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { addCrowd } from '../support/crowd.ts';
import { copyOfDatabase, dialect } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { type Installation, install } from '../support/installation.ts';
import {
  type BothKinds,
  changeAt,
  daemonReported,
  type Interruptions,
  interruptions,
  moveTo,
  otherKind,
  startBothKinds,
  withoutPassword,
} from '../support/move.ts';
import { postgresMissing } from '../support/postgres.ts';

// A move does not lose data if processes stop, databases are swapped or other processes hold locks.

const crowd = 20;
const known = { pat: '', org: '' };
const missing = (await postgresMissing()) !== null;
let site: Installation;
let both: BothKinds;
let moves: Interruptions;

beforeAll(async () => {
  if (missing) return;
  both = await startBothKinds();
  site = await install({
    prepare: async (operator) => {
      const given = { user: 'olga@acme.test', name: 'robot' };
      known.pat = (await createToken(operator(), given)).token;
      known.org = (await Organization.findAll())[0]?.id ?? '';
    },
  });
  await addCrowd(site.database, known.org, crowd);
  moves = await interruptions(site, both, otherKind);
}, 120_000);
afterAll(async () => {
  await site?.close();
  await both?.stop();
});

const at = (database: string) => ({ IDCTL_DATABASE: database });
const pathOf = (url: string) => url.slice('sqlite:'.length);

/** Empties the database at this address. */
async function emptyAt(database: string): Promise<void> {
  if (database.startsWith('postgres:'))
    return changeAt(database, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  for (const end of ['', '-wal', '-shm']) await rm(`${pathOf(database)}${end}`, { force: true });
}

/** Swaps two databases. */
async function exchange(one: string, other: string): Promise<void> {
  const aside = crypto.randomUUID().slice(0, 8);
  if (one.startsWith('sqlite:')) {
    const steps = [
      [pathOf(one), aside],
      [pathOf(other), pathOf(one)],
      [aside, pathOf(other)],
    ] as const;
    const place = (path: string) => (path === aside ? join(site.folder, aside) : path);
    for (const [from, to] of steps) await rename(place(from), place(to));
    return;
  }
  const [a, b] = [one, other].map((url) => new URL(url).pathname.slice(1));
  for (const [from, to] of [
    [a, aside],
    [b, a],
    [aside, b],
  ])
    await changeAt(inject('databases'), `ALTER DATABASE "${from}" RENAME TO "${to}"`);
}

/** Starts a move. Kills it after it marks the old database and before it releases the new one. */
async function halfMove() {
  const move = await moves.begin();
  await moves.killHalfway(move);
  return move;
}

describe.skipIf(missing)('database move', { timeout: 180_000 }, () => {
  test.runIf(dialect === 'postgres')(
    'a daemon that was suspended during the move writes nothing more, and exits with code 3',
    async () => {
      const from = await copyOfDatabase(site.database);
      const daemon = await site.serve(at(from));
      const client = createClient(daemon.url);
      const bearer = { authorization: `Bearer ${known.pat}` };
      expect((await client.get('/api/v1/me', bearer)).status).toBe(200);
      process.kill(daemon.pid, 'SIGSTOP');
      // Without a report for 150 seconds, a daemon also counts as stopped.
      await changeAt(from, 'DELETE FROM daemons');
      const { code, err } = await moveTo(site, await both.fresh('sqlite'), at(from));
      process.kill(daemon.pid, 'SIGCONT');
      expect([code, err]).toEqual([0, expect.any(String)]);
      const ready = await client.get('/readyz').then(
        ({ status }) => status,
        () => 'refused',
      );
      expect(['refused', 503]).toContain(ready);
      const written = await client
        .post('/api/v1/orgs/acme/projects', { name: 'Late' }, bearer)
        .then(
          ({ status }) => status,
          () => 'refused',
        );
      expect(['refused', 503]).toContain(written);
      await expect.poll(() => daemon.log(), { timeout: 60_000 }).toContain('"database_moved"');
      await expect.poll(() => isRunning(daemon.pid), { timeout: 60_000 }).toBe(false);
      expect(await daemon.stop()).toBe(3);
    },
  );

  test.runIf(dialect === 'sqlite')('a suspended daemon counts as running', async () => {
    const from = await copyOfDatabase(site.database);
    const daemon = await site.serve(at(from));
    await daemonReported(site, from);
    process.kill(daemon.pid, 'SIGSTOP');
    const { code, err } = await moveTo(site, await both.fresh('postgres'), at(from));
    process.kill(daemon.pid, 'SIGCONT');
    expect([code, err]).toEqual([1, expect.stringContaining('A daemon is using this database')]);
  });

  test('an unfinished copy is finished only from the database that it was copied from', async () => {
    const late = await moves.begin();
    // Before, another copy of the instance was moved to the same target, which was then emptied.
    const earlier = await copyOfDatabase(site.database);
    await exchange(late.from, earlier);
    expect((await late.run()).code).toBe(0);
    await exchange(late.from, earlier);
    await emptyAt(late.to);
    await moves.killHalfway(late);

    await exchange(late.from, earlier);
    const { code, err } = await late.run();
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('contains the unfinished copy of another move'),
    ]);
    expect((await late.look()).to.code).toBe(3);
    await exchange(late.from, earlier);
    expect((await late.run()).code).toBe(0);
    expect((await late.look()).to.code).toBe(0);
  });

  test('after an interruption, the next run compares the copy again and restores missing rows', async () => {
    const move = await halfMove();
    await changeAt(move.to, "DELETE FROM accounts WHERE email <> 'olga@acme.test'");
    expect((await move.run()).code).toBe(0);
    const [row] = await site.query('SELECT count(*) AS n FROM accounts', move.to);
    expect(Number(row?.['n'])).toBe(crowd + 1);
  });

  test('if the copy is gone, only --yes copies a database that is marked as moved', async () => {
    const move = await halfMove();
    await emptyAt(move.to);
    const { code, err } = await move.run();
    expect([code, err]).toEqual([1, expect.stringContaining('which is empty now')]);
    const dry = await moveTo(site, move.to, at(move.from), '--dry-run');
    expect([dry.code, dry.err]).toEqual([1, expect.stringContaining('add --yes')]);
    const again = await moveTo(site, move.to, at(move.from), '--yes');
    expect([again.code, again.err]).toEqual([0, expect.stringContaining('Next:')]);
    const { from, to } = await move.look();
    expect([from.code, to.code]).toEqual([3, 0]);
  });

  test('a database that is marked as moved cannot be moved to another address, or over another database', async () => {
    const move = await halfMove();
    const elsewhere = await moveTo(site, await both.fresh(otherKind), at(move.from));
    expect([elsewhere.code, elsewhere.err]).toEqual([
      3,
      expect.stringContaining(
        `If that move was interrupted, move to ${withoutPassword(move.to)} again`,
      ),
    ]);
    const other = await moves.begin();
    expect((await other.run()).code).toBe(0);
    await emptyAt(move.to);
    expect((await moveTo(site, move.to, at(other.to))).code).toBe(0);
    const { code, err } = await move.run();
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('but that address now has another database'),
    ]);
  });

  test('if the new database cannot be created, the message names the database and the user', async () => {
    const from = await copyOfDatabase(site.database);
    const to = 'sqlite:/proc/idctl.db';
    const { code, err } = await moveTo(site, to, at(from));
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(
        /The new database sqlite:\/proc\/idctl\.db cannot be used.*\n.*the user /,
      ),
    ]);
  });

  test.runIf(dialect === 'postgres')('--dry-run waits for no lock and takes none', async () => {
    const from = await copyOfDatabase(site.database);
    const holder = new pg.Client(from);
    await holder.connect();
    onTestFinished(() => holder.end());
    for (const mode of ['ROW EXCLUSIVE', 'ACCESS EXCLUSIVE']) {
      await holder.query(`BEGIN; LOCK TABLE accounts IN ${mode} MODE`);
      const to = await both.fresh('sqlite');
      const { code, out } = await moveTo(site, to, at(from), '--dry-run', '--json');
      expect([mode, code]).toEqual([mode, 1]);
      expect(JSON.parse(out).refusals).toContainEqual({
        code: 'conflict',
        message: 'Another process uses this database.',
        hint: expect.any(String),
      });
      await holder.query('COMMIT');
    }
    // VACUUM takes this lock. A dry run that locked tables like a move would wait for it.
    await holder.query('BEGIN; LOCK TABLE accounts IN SHARE UPDATE EXCLUSIVE MODE');
    const dry = await moveTo(site, await both.fresh('sqlite'), at(from), '--dry-run');
    expect([dry.code, dry.err]).toEqual([0, expect.stringContaining('Dry run')]);
  });

  test.runIf(dialect === 'sqlite')(
    'X4 a value that PostgreSQL cannot store is named by table, column and key, and not shown',
    async () => {
      const id = (table: number) => `019b700${table}-0000-7000-8000-000000000007`;
      for (const [table, key, column, value] of [
        ['scim_records', id(3), 'search', `'{"a":"\\u0000Rosebud"}'`],
        ['accounts', id(1), 'name', "'Rose' || char(0) || 'bud'"],
        ['accounts', id(1), 'created_at', "'Rosebud'"],
        ['accounts', id(1), 'awaits_code', "'Rosebud'"],
      ] as const) {
        const from = await copyOfDatabase(site.database);
        await changeAt(from, `UPDATE ${table} SET ${column} = ${value} WHERE id = '${key}'`);
        const { code, err } = await moveTo(site, await both.fresh('postgres'), at(from));
        expect([column, code]).toEqual([column, 1]);
        expect(err).toContain(
          `cannot store the column ${column} of the row ${key} of the table ${table}.`,
        );
        expect((await site.run(['org', 'list'], '', at(from))).code).toBe(0);
        expect(err).not.toMatch(/Rose|bud/);
      }
    },
  );

  test('X4 if other users can read the file of --to-file, a warning names the file', async () => {
    const file = join(site.folder, `url-${crypto.randomUUID()}`);
    const url = await both.fresh('postgres');
    await writeFile(file, url);
    for (const [mode, told] of [
      [0o640, true],
      [0o604, true],
      [0o600, false],
    ] as const) {
      await chmod(file, mode);
      const from = await copyOfDatabase(site.database);
      const words = ['database', 'move', '--to-file', file, '--dry-run'];
      const { code, err } = await site.run(words, '', at(from));
      expect([mode, code]).toEqual([mode, 0]);
      const warning = `${file} contains the database's password, and other users can read it. Run: chmod 600`;
      expect([mode, err.includes(warning)]).toEqual([mode, told]);
    }
  });

  test.runIf(dialect === 'postgres')(
    'an address with quotes and backslashes stays text in the SQL that PostgreSQL runs',
    async () => {
      const from = await copyOfDatabase(site.database);
      const name = new URL(from).pathname.slice(1);
      const setting = `ALTER DATABASE "${name}" SET standard_conforming_strings = off`;
      await changeAt(inject('databases'), setting);
      const to = (await both.fresh('sqlite')).replace(/[^/]+$/, String.raw`it's\'); --"$$.db`);
      const { code, err } = await moveTo(site, to, at(from));
      expect([code, err]).toEqual([0, expect.stringContaining('Next:')]);
      const client = new pg.Client(from);
      await client.connect();
      onTestFinished(() => client.end());
      await expect(client.query('DELETE FROM sessions')).rejects.toMatchObject({
        code: '25006',
        message: `This database was moved to ${to}.`,
      });
      const refused = await site.run(['org', 'list'], '', at(from));
      expect(refused.err).toContain(`This database was moved to ${to}.`);
    },
  );
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
