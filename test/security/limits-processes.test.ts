import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { password } from '../support/builders.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { migratedDatabaseUrl } from '../support/database.ts';
import { createClient } from '../support/http.ts';

const email = 'ada@example.test';

/** Starts two daemons on one database that has an account of Ada. */
async function twoDaemons(): Promise<Daemon[]> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-two-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  const database = await migratedDatabaseUrl();
  const settings = configSchema.parse({ log: { level: 'fatal' } });
  const config = {
    ...settings,
    baseUrl: 'http://127.0.0.1',
    keyFile,
    database: { ...settings.database, url: database },
  };
  const app = await openApp({ config }, { migrate: 'yes' });
  await createUser(openContext(app, { kind: 'operator', name: 'test' }), {
    email,
    name: 'Ada',
    password,
  });
  await app.close();
  const daemons = await Promise.all([1, 2].map(() => startDaemon({ database, keyFile })));
  onTestFinished(async () => {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
  });
  return daemons;
}

test('P8 of twenty parallel guesses on two daemons, ten are tried in all; then both daemons refuse', async () => {
  const clients = (await twoDaemons()).map(({ url }) => createClient(url));
  const guess = async (at: number, given = 'wrong') => {
    const answer = await clients[at % 2]?.post('/api/v1/auth/login', { email, password: given });
    return answer?.status;
  };
  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => guess(at)));
  // A slow machine refuses some guesses with 503, without trying or counting them.
  expect(answers.filter((status) => status !== 401 && status !== 429 && status !== 503)).toEqual(
    [],
  );
  for (let at = 0; at < 12; at += 1) answers.push(await guess(at));
  expect(answers.filter((status) => status === 401)).toHaveLength(10);
  expect([await guess(0, password), await guess(1, password)]).toEqual([429, 429]);
}, 120_000);
