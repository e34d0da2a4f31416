import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { dialect } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { install } from '../support/installation.ts';
import { portOf } from '../support/ports.ts';
import { createPostgresDatabase, startPostgres } from '../support/postgres.ts';

describe.skipIf(dialect !== 'postgres')('a database server', () => {
  test('that does not take writes makes the daemon not ready, and doctor says so', async () => {
    const site = await install();
    onTestFinished(() => site.close());
    const daemon = await site.serve();
    const { body } = await createClient(daemon.url).get('/readyz');
    expect(body).toEqual({ status: 'ready', writable: true });
    const name = new URL(site.database).pathname.slice(1);
    await site.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    await site.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    await expect
      .poll(async () => {
        const answer = await createClient(daemon.url).get('/readyz');
        return [answer.status, answer.body.detail];
      })
      .toEqual([503, 'The database server does not accept writes.']);
    const { code, out } = await site.run(['doctor']);
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('The database server does not accept writes'),
    ]);
  });

  test('that becomes read-only loses all connections of the daemon, also those that only read', {
    timeout: 60_000,
  }, async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    let token = '';
    const site = await install({
      database: await createPostgresDatabase(server.url, 'idctl'),
      prepare: async (operator) => {
        ({ token } = await createToken(operator(), { user: 'olga@acme.test', name: 'ci' }));
      },
    });
    onTestFinished(() => site.close());
    const client = createClient((await site.serve()).url);
    let reading = true;
    const headers = { authorization: `Bearer ${token}` };
    const readers = Array.from({ length: 8 }, async () => {
      while (reading) await client.get('/api/v1/me', headers);
    });
    onTestFinished(async () => {
      reading = false;
      await Promise.all(readers);
    });
    const connections = async () =>
      (
        await site.query("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'idctl%'")
      ).map(({ pid }) => pid);
    await expect.poll(async () => (await connections()).length).toBeGreaterThan(3);
    // New connections can write. Older connections become read-only, as on a former primary.
    await site.query('ALTER DATABASE idctl SET default_transaction_read_only = off');
    const before = await connections();
    await site.query('ALTER SYSTEM SET default_transaction_read_only = on');
    await site.query('SELECT pg_reload_conf()');
    const left = async () => (await connections()).filter((pid) => before.includes(pid));
    // A connection that nothing uses stays until it has been idle for ten seconds.
    await expect.poll(left, { timeout: 40_000 }).toEqual([]);
    expect((await client.post('/api/v1/auth/login', site.owner)).status).toBe(200);
    expect((await client.get('/readyz')).status).toBe(200);
  });

  test('that is unreachable for a while is logged once when it fails and once when it is back', {
    timeout: 180_000,
  }, async () => {
    const site = await install();
    onTestFinished(() => site.close());
    const way = await wayTo(site.database);
    const daemon = await site.serve({ IDCTL_DATABASE: way.url, IDCTL_LOG_LEVEL: 'info' });
    const client = createClient(daemon.url);
    const signIn = async () => (await client.post('/api/v1/auth/login', site.owner)).status;
    expect(await signIn()).toBe(200);
    const linesOf = (level: string) =>
      daemon
        .log()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter((line) => line.level === level);
    await way.close();
    // Some jobs of the daemon run every second, and fail too.
    await expect.poll(() => linesOf('error').length).toBeGreaterThan(0);
    for (let time = 0; time < 100; time += 1) expect(await signIn()).toBe(503);
    await way.open();
    await expect.poll(() => daemon.log()).toContain('the database can be used again');
    expect(await signIn()).toBe(200);
    expect(await daemon.stop()).toBe(0);
    expect(linesOf('error').map(({ msg, code }) => [msg, code])).toEqual([
      ['the database cannot be used', 'database_unreachable'],
    ]);
    expect(linesOf('warn')).toEqual([]);
    const again = linesOf('info').filter(({ msg }) => msg.startsWith('the database'));
    expect(again.length).toBe(1);
  });
});

/** Starts a proxy to a database. The proxy can be closed and opened again. */
async function wayTo(database: string) {
  const { hostname, port } = new URL(database);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}));
    near.pipe(far).pipe(near);
  });
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const own = portOf(server);
  onTestFinished(() => (server.listening ? close() : undefined));
  return {
    url: Object.assign(new URL(database), { hostname: '127.0.0.1', port: String(own) }).href,
    close,
    open: () => once(server.listen(own, '127.0.0.1'), 'listening'),
  };
}

test('once a newer idctl has migrated the database, an older daemon stops writing', async () => {
  const site = await install();
  onTestFinished(() => site.close());
  const daemon = await site.serve();
  const client = createClient(daemon.url);
  const signIn = () => client.post('/api/v1/auth/login', site.owner);
  expect((await signIn()).status).toBe(200);
  const newer = "INSERT INTO migrations (name, applied_at) VALUES ('9999-newer', '2030-01-01')";
  if (dialect === 'postgres') await site.query(newer);
  else {
    const file = new DatabaseSync(site.database.slice('sqlite:'.length), { timeout: 5000 });
    file.exec(newer);
    file.close();
  }
  await expect.poll(async () => (await signIn()).body.code).toBe('schema_newer');
  const answer = await client.get('/readyz');
  expect([answer.status, answer.body.code]).toEqual([503, 'schema_newer']);
});
