import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { registerApp } from '../../src/services/people/apps/operations.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { startDaemon } from '../support/daemon.ts';
import { startPostgres } from '../support/postgres.ts';
import { figure, table } from './figures.ts';

// `npm run bench:mint -- [--rounds N] [--on SQLite|PostgreSQL]` measures bot tokens a second,
// against transactions of four writes through models (goal 6). It sends sixteen requests at once,
// for so many apps that no app gets a hundred tokens. Each figure is the median of the rounds.

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, on: { type: 'string' } },
});
const rounds = Number(values.rounds);
const ms = 1500;
const apps = 300;

type Credentials = { client_id: string; client_secret: string };

async function populate(url: string, keyFile: string): Promise<Credentials[]> {
  const settings = configSchema.parse({ log: { level: 'fatal' } });
  const database = { ...settings.database, url };
  const config = { ...settings, baseUrl: 'http://127.0.0.1', keyFile, database };
  const app = await openApp({ config }, { migrate: 'yes' });
  const operator = openContext(app, { kind: 'operator', name: 'bench' });
  const made: Credentials[] = [];
  for (let n = 0; n < apps; n += 1) {
    const { id } = await createUser(operator, { email: `ada${n}@example.test`, name: 'Ada Byron' });
    const { clientId, clientSecret } = await registerApp(operator, { user: id, name: 'builder' });
    made.push({ client_id: clientId, client_secret: clientSecret });
  }
  await app.close();
  return made;
}

/** Measures tokens a second, for the apps in turn. */
async function mintRate(url: string, clients: Credentials[]): Promise<number> {
  const pool = new Pool(url, { connections: 16, pipelining: 1 });
  const began = performance.now();
  let done = 0;
  const one = async () => {
    while (performance.now() - began < ms) {
      const form = { grant_type: 'client_credentials', ...clients[done++ % clients.length] };
      const { statusCode, body } = await pool.request({
        path: '/api/v1/oauth/token',
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
      });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${statusCode} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, one));
  const seconds = (performance.now() - began) / 1000;
  await pool.close();
  return done / seconds;
}

async function bench(name: 'SQLite' | 'PostgreSQL'): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-bench-'));
  const servers = name === 'SQLite' ? [] : [await startPostgres(), await startPostgres()];
  const place = (at: number) => servers[at]?.url ?? `sqlite:${join(folder, `${at}.db`)}`;
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  const clients = await populate(place(0), keyFile);
  const env = { IDCTL_LIMITS_TOKEN_REQUESTS: '1000000', IDCTL_LOG_LEVEL: 'info' };
  const daemon = await startDaemon({ database: place(0), keyFile, env });
  const limit = fork(fileURLToPath(new URL('./scim-limit.ts', import.meta.url)), [place(1)]);
  await once(limit, 'message');
  const limits: number[] = [];
  const minted: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      limit.send(ms);
      limits.push(Number((await once(limit, 'message'))[0]));
      minted.push(await mintRate(daemon.url, clients));
    }
    const share = minted.map((rate, at) => (100 * rate) / (limits[at] ?? rate));
    const figures = [
      figure('four-write transactions, models', limits, '/s'),
      figure('bot tokens minted', minted, '/s'),
      figure('minted, against that limit', share, '%', { least: 75 }),
    ];
    process.stdout.write(table(`Bot tokens, ${name}`, figures));
  } finally {
    limit.disconnect();
    await daemon.stop();
    for (const server of servers) await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

for (const name of ['SQLite', 'PostgreSQL'] as const) {
  if (values.on === undefined || values.on === name) await bench(name);
}
