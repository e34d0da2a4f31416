import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { onTestFinished } from 'vitest';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { type App, type Context, openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { Account } from '../../src/database/models/account.ts';
import { transaction } from '../../src/database/transaction.ts';
import { createServer } from '../../src/http/server.ts';
import { surface } from '../../src/http/surface.ts';
import { createUser } from '../../src/services/accounts/create.ts';
import { beginSession } from '../../src/services/sessions/begin.ts';
import { freshDatabaseUrl } from './database.ts';
import { type Client, createClient } from './http.ts';

type Settings = Parameters<typeof configSchema.parse>[0];

/** A whole idctl in this process, on a database of its own, with its door open. */
export interface Instance {
  app: App;
  /** The operator, now. */
  operator(): Context;
  url: string;
  /** Somebody who sends no credential. */
  anonymous: Client;
}

/** Opens an instance until the test ends. A process can have one at a time. */
export async function openInstance(settings: Settings = {}): Promise<Instance> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-instance-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  const checked = configSchema.parse({ log: { level: 'error' }, ...(settings ?? {}) });
  const config = {
    ...checked,
    baseUrl: checked.baseUrl ?? 'http://127.0.0.1',
    keyFile,
    database: { ...checked.database, url: await freshDatabaseUrl() },
  };
  const app = await openApp({ config }, { migrate: 'yes' });
  const server = createServer(app, surface);
  await server.listen('127.0.0.1:0');
  onTestFinished(async () => {
    await server.close(0);
    await app.close();
  });
  const url = server.url ?? '';
  return {
    app,
    operator: () => openContext(app, { kind: 'operator', name: 'test' }),
    url,
    anonymous: createClient(url),
  };
}

/** Somebody with an account and a live session. */
export interface Person extends Client {
  id: string;
  email: string;
  accessToken: string;
  /** The id of another live session of theirs. */
  spareSession: string;
}

/** An account of the instance, signed in without a password. */
export async function signedIn({ operator, url }: Instance, email: string): Promise<Person> {
  const { id } = await createUser(operator(), { email, name: email.slice(0, email.indexOf('@')) });
  const begin = () =>
    transaction(async () =>
      beginSession(operator(), await Account.findByPk(id, { rejectOnEmpty: true }), { method: 'password' }),
    );
  const { accessToken } = await begin();
  const spare = decodeJwt((await begin()).accessToken);
  const client = createClient(url, { headers: { authorization: `Bearer ${accessToken}` } });
  return { ...client, id, email, accessToken, spareSession: String(spare['sid']) };
}
