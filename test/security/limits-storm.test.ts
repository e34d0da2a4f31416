import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { createUser } from '../../src/services/accounts/create.ts';
import { password } from '../support/builders.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { createClient } from '../support/http.ts';

const [ada, mallory] = ['ada@example.test', 'mallory@example.test'];

/** Two daemons on one database, behind a proxy that they trust. */
async function twoDaemons(): Promise<[Daemon, Daemon]> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-storm-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  const database = await freshDatabaseUrl();
  const settings = configSchema.parse({ log: { level: 'fatal' } });
  const stored = { ...settings.database, url: database };
  const config = { ...settings, baseUrl: 'http://127.0.0.1', keyFile, database: stored };
  const app = await openApp({ config }, { migrate: 'yes' });
  const operator = openContext(app, { kind: 'operator', name: 'test' });
  for (const email of [ada, mallory]) await createUser(operator, { email, name: 'Ada', password });
  await app.close();
  const env = { IDCTL_HTTP_TRUSTED_PROXIES: '127.0.0.1' };
  const start = () => startDaemon({ database, keyFile, env });
  const daemons: [Daemon, Daemon] = [await start(), await start()];
  onTestFinished(async () => {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
  });
  return daemons;
}

/** Keeps one sign-in in flight from each address, until it is told to stop; answers how many got which status. */
function storm(url: string, given: { from: string; email: string; password: string }[]) {
  const pool = new Pool(url, { connections: given.length, pipelining: 1 });
  const seen: Record<number, number> = {};
  let over = false;
  const raging = given.map(async ({ from, ...body }) => {
    while (!over) {
      const answer = await pool.request({
        method: 'POST',
        path: '/api/v1/auth/login',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
        body: JSON.stringify(body),
      });
      await answer.body.dump();
      seen[answer.statusCode] = (seen[answer.statusCode] ?? 0) + 1;
    }
  });
  return async () => {
    over = true;
    await Promise.all(raging);
    await pool.close();
    return seen;
  };
}

const signIn = (url: string, email: string, from: string) =>
  createClient(url).post('/api/v1/auth/login', { email, password }, { 'x-forwarded-for': from });

/**
 * So many sign-ins of Ada's from home: how long each took, and how often it was refused before. On a busy machine even
 * the one turn before hers may take too long, and she tries again; a stranger tries in vain.
 */
async function adaSignsIn(url: string, times: number): Promise<{ ms: number[]; refused: number[] }> {
  const told = { ms: [] as number[], refused: [] as number[] };
  for (let done = 0; done < times; done += 1) {
    const began = performance.now();
    let refused = 0;
    while (refused < 3 && (await signIn(url, ada, '203.0.113.7')).status !== 200) refused += 1;
    told.ms.push(Math.round(performance.now() - began));
    told.refused.push(refused);
  }
  return told;
}

test('P8 wrong passwords from 250 networks keep out no client that has signed in lately, whichever daemon it asked', async () => {
  const [first, second] = await twoDaemons();
  expect((await signIn(first.url, ada, '203.0.113.7')).status).toBe(200);
  const wrong = (at: number) => ({
    from: `2001:db8:0:${at.toString(16)}::1`,
    email: `x${at}@example.test`,
    password: 'wrong',
  });
  const calm = storm(
    second.url,
    Array.from({ length: 250 }, (_, at) => wrong(at)),
  );
  await pause(2000);
  const { ms, refused } = await adaSignsIn(second.url, 8);
  const seen = await calm();
  process.stdout.write(
    `250 wrong passwords in flight: ${JSON.stringify(seen)}; Ada: ${ms.join(', ')} ms, refused ${refused.join(', ')}\n`,
  );
  expect(seen[503]).toBeGreaterThan(0);
  expect(Math.max(...refused)).toBeLessThan(3);
}, 300_000);

test('P8 one account that signs in from many networks takes no more than its share of the places', async () => {
  const [first, second] = await twoDaemons();
  expect((await signIn(first.url, ada, '203.0.113.7')).status).toBe(200);
  const networks = Array.from({ length: 60 }, (_, at) => `2001:db8:1:${at.toString(16)}::1`);
  for (const from of networks) expect((await signIn(first.url, mallory, from)).status).toBe(200);
  // Four requests from each, so that the places would not do for all of them.
  const flood = networks.flatMap((from) => Array(4).fill({ from, email: mallory, password }));
  const calm = storm(second.url, flood);
  await pause(2000);
  const { refused } = await adaSignsIn(second.url, 8);
  const seen = await calm();
  expect(seen[503]).toBeGreaterThan(0);
  expect(Math.max(...refused)).toBeLessThan(3);
}, 300_000);
