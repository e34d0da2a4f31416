import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { onTestFinished } from 'vitest';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { password } from './builders.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { migratedDatabaseUrl } from './database.ts';
import { createClient } from './http.ts';

/** The people of the storm: Ada signs in from home, Mallory floods. */
export const [ada, mallory] = ['ada@example.test', 'mallory@example.test'];

/** Starts two daemons on one database that trust a proxy at 127.0.0.1. */
export async function twoDaemons(): Promise<[Daemon, Daemon]> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-storm-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  const database = await migratedDatabaseUrl();
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

/**
 * Keeps one sign-in in flight from each address. The returned function stops this, and returns the
 * number of answers for each status.
 */
export function storm(url: string, given: { from: string; email: string; password: string }[]) {
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

/** Tries to sign in once with the right password, from this client address. */
export const signIn = (url: string, email: string, from: string) =>
  createClient(url).post('/api/v1/auth/login', { email, password }, { 'x-forwarded-for': from });

/**
 * Signs Ada in `times` times from home, and returns the duration of each sign-in and its refusals.
 * Each sign-in may take three tries: on a busy machine, her turn may come too late.
 */
export async function adaSignsIn(
  url: string,
  times: number,
): Promise<{ ms: number[]; refused: number[] }> {
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
