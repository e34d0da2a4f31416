import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { dialect } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { type Installation, install } from '../support/installation.ts';
import { freePorts } from '../support/ports.ts';
import { startPostgres } from '../support/postgres.ts';

// A slow machine needs this long. No test depends on speed.
const unhurried = { timeout: 240_000 };

/** Lets no write be committed, until the returned function is called. */
type Fault = (database: string) => Promise<() => Promise<void>>;

const lockFile: Fault = async (database) => {
  const file = new DatabaseSync(database.slice('sqlite:'.length), { timeout: 60_000 });
  file.exec('BEGIN IMMEDIATE');
  return async () => file.close();
};

const lockTables: Fault = async (database) => {
  const client = new pg.Client(database);
  await client.connect();
  const { rows } = await client.query(
    "SELECT format('%I', tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  // Others can still read the tables.
  const names = rows.map(({ name }) => name).join(', ');
  await client.query(`BEGIN; LOCK TABLE ${names} IN EXCLUSIVE MODE`);
  return () => client.end();
};

const loseStandby: Fault = async (database) => {
  const client = new pg.Client(database);
  await client.connect();
  const name = async (standby: string) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
    await client.query('SELECT pg_reload_conf()');
  };
  await name('missing');
  return async () => {
    await name('');
    await client.end();
  };
};

const faults: [string, Fault][] =
  dialect === 'sqlite'
    ? [['another process holds the write lock', lockFile]]
    : [
        ['another session holds a lock on the tables', lockTables],
        ['the synchronous standby is missing, so every COMMIT waits', loseStandby],
      ];

describe.each(faults)('while %s', (_, fault) => {
  test('/readyz, status, doctor and the metrics say that writes fail, and reads go on', {
    timeout: 600_000,
  }, async () => {
    const { site, token } = await installOn();
    const [port = 0, metrics = 0] = await freePorts(2);
    const listen = `127.0.0.1:${port}`;
    const here = {
      IDCTL_BASE_URL: `http://${listen}`,
      IDCTL_LISTEN: listen,
      IDCTL_LOG_LEVEL: 'info',
    };
    const more = { ...here, IDCTL_METRICS_LISTEN: `127.0.0.1:${metrics}` };
    const daemon = await site.serve(more, port);
    const client = createClient(daemon.url);
    const ready = async () => {
      const { status, body } = await client.get('/readyz');
      return [status, body.writable];
    };
    const write = async () => (await client.post('/api/v1/auth/login', site.owner)).status;
    const read = async () =>
      (await client.get('/api/v1/me', { authorization: `Bearer ${token}` })).status;
    const metric = async () =>
      /^idctl_database_writable (\d)$/m.exec(
        (await createClient(`http://127.0.0.1:${metrics}`).get('/metrics')).body,
      )?.[1];
    const status = async () => {
      const { daemon: found, problems } = JSON.parse(
        (await site.run(['status', '--json'], '', here)).out,
      );
      return [found, problems.filter((problem: string) => problem.startsWith('daemon'))];
    };
    const writes = async () => {
      const { checks } = JSON.parse((await site.run(['doctor', '--json'], '', here)).out);
      return checks.find(({ name }: { name: string }) => name === 'writes').ok;
    };
    const well = [{ ready: true, writable: true, message: 'ready' }, []];
    expect([await write(), await read(), await ready(), await metric()]).toEqual([
      200,
      200,
      [200, true],
      '1',
    ]);
    expect([await status(), await writes()]).toEqual([well, true]);

    const mend = await fault(site.database);
    let mended = false;
    onTestFinished(async () => {
      if (!mended) await mend();
    });
    expect(await write()).toBe(503);
    await expect.poll(ready, unhurried).toEqual([200, false]);
    expect([await read(), await metric()]).toEqual([200, '0']);
    const message = 'ready, but writes fail';
    expect(await status()).toEqual([
      { ready: true, writable: false, message },
      [`daemon: ${message}`],
    ]);
    expect((await site.run(['status', '--ready'], '', here)).code).toBe(0);
    expect(await writes()).toBe(false);
    expect([await write(), await ready()]).toEqual([503, [200, false]]);

    await mend();
    mended = true;
    await expect.poll(ready, unhurried).toEqual([200, true]);
    expect([await write(), await metric()]).toEqual([200, '1']);
    expect([await status(), await writes()]).toEqual([well, true]);
    await expect.poll(() => daemon.log(), unhurried).toContain('the database can be used again');
    expect(await daemon.stop()).toBe(0);
    const told = daemon
      .log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg.startsWith('the database'))
      .map(({ msg, code }) => code ?? msg);
    // A line for each code, because some writes wait for others, and one when the outage ends.
    const [last, ...codes] = told.reverse();
    expect(last).toBe('the database can be used again');
    expect(codes.length).toBeGreaterThan(0);
    expect([...new Set(codes)]).toEqual(codes);
    for (const code of codes) expect(['database_busy', 'database_unreachable']).toContain(code);
  });
});

/** An instance with a database server of its own, and a token of its owner. */
async function installOn(): Promise<{ site: Installation; token: string }> {
  let token = '';
  const server = dialect === 'postgres' ? await startPostgres() : null;
  onTestFinished(() => server?.stop());
  const site = await install({
    ...(server && { database: server.url }),
    prepare: async (operator) => {
      ({ token } = await createToken(operator(), { user: 'olga@acme.test', name: 'ci' }));
    },
  });
  onTestFinished(() => site.close());
  return { site, token };
}
