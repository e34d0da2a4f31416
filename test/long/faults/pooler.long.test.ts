import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rotateScimToken } from '../../../src/services/provisioning/scim/token.ts';
import { counterpartMissing } from '../../support/counterpart.ts';
import { dialect } from '../../support/database.ts';
import { createClient } from '../../support/http.ts';
import { install } from '../../support/installation.ts';
import { startPgBouncer } from '../../support/pgbouncer.ts';
import { portOf } from '../../support/ports.ts';
import { startPostgres } from '../../support/postgres.ts';

const missing = dialect !== 'postgres' || counterpartMissing('pgbouncer');

describe.skipIf(missing)('behind PgBouncer', () => {
  // In transaction mode, two connections to the server serve all transactions of both daemons.
  test.each(['session', 'transaction'] as const)(
    'in %s mode, SCIM requests, sign-ins and commands work',
    async (mode) => {
      let [token, base] = ['', ''];
      const site = await install({
        prepare: async (operator) => {
          ({ token, baseUrl: base } = await rotateScimToken(operator(), { org: 'acme' }));
        },
      });
      onTestFinished(() => site.close());
      const size = mode === 'session' ? 'default_pool_size = 40' : 'default_pool_size = 2';
      const pooler = await startPgBouncer(site.database, mode, [size]);
      onTestFinished(() => pooler.stop());
      const daemons = await Promise.all(
        [1, 2].map(() => site.serve({ IDCTL_DATABASE: pooler.url })),
      );
      onTestFinished(async () => {
        await Promise.all(daemons.map((daemon) => daemon.stop()));
      });
      const clients = daemons.map(({ url }) => createClient(url));
      const authorization = `Bearer ${token}`;
      const users = `${new URL(base).pathname}/Users`;
      const asked = Array.from({ length: 60 }, async (_, at) => {
        const client = clients[at % 2];
        const user = JSON.stringify({ userName: `user${at}@acme.test` });
        const headers = { authorization, 'content-type': 'application/scim+json' };
        const made = await client?.post(users, user, headers);
        const listed = await client?.get(`${users}?filter=userName%20eq%20"user${at}@acme.test"`, {
          authorization,
        });
        const signedIn = at % 10 > 0 ? null : await client?.post('/api/v1/auth/login', site.owner);
        return [made?.status, listed?.body.totalResults, signedIn?.status ?? 200];
      });
      const answers = new Set((await Promise.all(asked)).map(String));
      expect(answers).toEqual(new Set(['201,1,200']));
      const command = await site.run(['user', 'list', '--quiet'], '', {
        IDCTL_DATABASE: pooler.url,
      });
      expect([command.code, command.err]).toEqual([0, '']);
      expect(command.out.split('\n').filter((line) => line.includes('user')).length).toBe(60);
    },
  );

  test('in transaction mode, each transaction has the time limits for statements and locks', async () => {
    const site = await install();
    onTestFinished(() => site.close());
    const pooler = await startPgBouncer(site.database, 'transaction');
    onTestFinished(() => pooler.stop());
    const { openDatabase } = await import('../../../src/database/open.ts');
    const { select } = await import('../../../src/database/select.ts');
    const { transaction } = await import('../../../src/database/transaction.ts');
    const database = await openDatabase({ url: pooler.url, sqliteDriver: 'node' });
    onTestFinished(() => database.close());
    const limits = () =>
      select<{ limit: string }>(
        `SELECT current_setting('statement_timeout') || ' ' || current_setting('lock_timeout') AS limit`,
        [],
      );
    expect(await transaction(limits)).toEqual([{ limit: '5s 5s' }]);
    // The limits are gone for the next client on the same connection to the server.
    expect(await limits()).toEqual([{ limit: '0 0' }]);
  });

  test('if the server is gone, commands and serve exit with code 3', async () => {
    const site = await install();
    onTestFinished(() => site.close());
    const server = await startPostgres();
    const pooler = await startPgBouncer(server.url, 'session');
    onTestFinished(() => pooler.stop());
    await server.stop();
    await expectRefusals(site, pooler.url);
  }, 60_000);
});

/** Starts a server that accepts connections but never answers, or only until the first query. */
async function silentServer(database?: string): Promise<string> {
  const sockets: Socket[] = [];
  const url = new URL(database ?? 'postgres://idctl:secret@127.0.0.1/idctl');
  const server = createServer((near) => {
    sockets.push(near.on('error', () => {}));
    if (database === undefined) return;
    const far = connect(Number(url.port), url.hostname, () => far.pipe(near));
    sockets.push(far.on('error', () => {}));
    let silent = false;
    near.on('data', (data) => {
      // The first query is a message of the type "Q" or "P".
      silent ||= ['Q', 'P'].includes(String.fromCharCode(data[0] ?? 0));
      if (!silent) far.write(data);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const port = String(portOf(server));
  return Object.assign(new URL(url), { hostname: '127.0.0.1', port }).href;
}

async function expectRefusals(site: Awaited<ReturnType<typeof install>>, url: string) {
  const begun = performance.now();
  const words = [['org', 'list'], ['serve', '--listen', '127.0.0.1:0'], ['migrate']];
  const ended = words.map((each) => site.run(each, '', { IDCTL_DATABASE: url }));
  for (const { code, err } of await Promise.all(ended)) {
    expect([code, err]).toEqual([3, expect.stringContaining('The database cannot be reached')]);
  }
  expect(performance.now() - begun).toBeLessThan(20_000);
}

describe.skipIf(dialect !== 'postgres')(
  'with a server that accepts connections but stops answering',
  () => {
    test.each(['from the start', 'after the login'])(
      '%s, commands and serve exit with code 3',
      async (when) => {
        const site = await install();
        onTestFinished(() => site.close());
        const url = await silentServer(when === 'after the login' ? site.database : undefined);
        await expectRefusals(site, url);
      },
      60_000,
    );
  },
);
