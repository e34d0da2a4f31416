import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { dialect } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { install } from '../support/installation.ts';
import { portOf } from '../support/ports.ts';

/** Starts a proxy to a PostgreSQL server. A frozen proxy forwards no data and closes nothing. */
async function freezable(database: string) {
  const { hostname, port } = new URL(database);
  const sockets: Socket[] = [];
  let frozen = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    sockets.push(near, far);
    const from = (one: Socket, other: Socket) =>
      one.on('error', () => other.destroy()).on('data', (data) => frozen || other.write(data));
    from(near, far).on('close', () => far.destroy());
    from(far, near).on('close', () => near.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(database);
  url.host = `127.0.0.1:${portOf(server)}`;
  const freeze = () => {
    frozen = true;
  };
  return { url: url.href, freeze };
}

test.skipIf(dialect !== 'postgres')(
  'a daemon whose database is frozen exits with code 0 within ten seconds of SIGTERM',
  async () => {
    let token = '';
    const site = await install({
      prepare: async (operator) => {
        ({ token } = await createToken(operator(), { user: 'olga@acme.test', name: 'ci' }));
      },
    });
    onTestFinished(() => site.close());
    const way = await freezable(site.database);
    const daemon = await site.serve({ IDCTL_DATABASE: way.url });
    const client = createClient(daemon.url);
    const authorization = `Bearer ${token}`;
    // The daemon has not yet written the last use of the token.
    expect((await client.get('/api/v1/me', { authorization })).status).toBe(200);
    way.freeze();
    const hanging = Array.from({ length: 5 }, () =>
      client.post('/api/v1/auth/login', site.owner).catch(() => null),
    );
    await pause(200);
    const begun = performance.now();
    expect(await daemon.stop()).toBe(0);
    expect(performance.now() - begun).toBeLessThan(10_000);
    await Promise.all(hanging);
  },
  60_000,
);
