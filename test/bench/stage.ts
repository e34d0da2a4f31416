import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createUser, disableUser } from '../../src/services/people/users/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { startDaemon } from '../support/daemon.ts';
import { type Client, createClient } from '../support/http.ts';
import { startPostgres } from '../support/postgres.ts';
import { asInstalled } from './child.ts';
import { registerApplication } from './code-flow.ts';
import { load, type Shot } from './load.ts';
import { enterProtected, protectedOrigin } from './protected.ts';

const email = 'ada@example.test';
const disabledEmail = 'bob@example.test';
const password = 'correct horse battery';

const widened = {
  IDCTL_LIMITS_ACCOUNT_FAILURES: '1000000',
  IDCTL_LIMITS_ADDRESS_FAILURES: '1000000',
};

const warmUpMs = 3000;

/** A daemon with accounts, in its own process, whose limits no load reaches. */
export interface Stage {
  name: string;
  url: string;
  shots: Record<
    'right' | 'wrong' | 'unknown' | 'disabled' | 'meByCookie' | 'meByToken' | 'verify',
    Shot
  >;
  /**
   * Runs the work, and returns its result and the 99th percentile of the event-loop delay in
   * milliseconds.
   */
  loopDelay<T>(work: () => Promise<T>): Promise<{ result: T; p99: number }>;
  /** The processor time that the daemon has used, in milliseconds. */
  used(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a daemon on a fresh database; `more` adds settings. */
export async function setStage(
  name: 'SQLite' | 'PostgreSQL',
  more: Record<string, string> = {},
): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-bench-'));
  const server = name === 'PostgreSQL' ? await startPostgres() : null;
  const database = server?.url ?? `sqlite:${join(folder, 'idctl.db')}`;
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  const token = await populateStage(database, keyFile);
  await registerApplication(database, keyFile, { forwardAuthOrigins: [protectedOrigin] });
  const daemon = await startDaemon({
    database,
    keyFile,
    env: { ...asInstalled, ...widened, IDCTL_LOG_LEVEL: 'info', ...more },
    preload: new URL('./event-loop.ts', import.meta.url).href,
  });
  const browser = await signIn(daemon.url);
  const cookie = `access_token=${browser.jar.get('access_token')}`;
  const verify = await enterProtected(daemon.url, browser);
  const shots = { ...shotsOf(cookie, token), verify };
  await warmUp(daemon.url, Object.values(shots));
  return {
    name,
    url: daemon.url,
    shots,
    async loopDelay(work) {
      daemon.tell('reset');
      const result = await work();
      return { result, p99: Number(await daemon.ask('report')) };
    },
    used: async () => Number(await daemon.ask('used')),
    async stop() {
      await daemon.stop();
      await server?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Fills a fresh database with the accounts that the benchmark uses, and returns a token of one. */
export async function populateStage(database: string, keyFile: string): Promise<string> {
  const settings = configSchema.parse({ log: { level: 'fatal' } });
  const address = { ...settings.database, url: database };
  const config = { ...settings, baseUrl: 'http://127.0.0.1', keyFile, database: address };
  const app = await openApp({ config }, { migrate: 'yes' });
  const operator = openContext(app, { kind: 'operator', name: 'bench' });
  for (const each of [email, disabledEmail]) {
    await createUser(operator, { email: each, name: 'Ada Byron', password });
  }
  await disableUser(operator, { user: disabledEmail });
  const { slug } = await createOrganization(operator, { name: 'Acme' });
  await addMember(operator, { org: slug, email, role: 'owner' });
  for (let count = 1; count < 50; count += 1) {
    const member = `person-${count}@example.test`;
    await createUser(operator, { email: member, name: `Person ${count}` });
    await addMember(operator, { org: slug, email: member, role: 'member' });
  }
  const { token } = await createToken(operator, { user: email, name: 'bench' });
  await app.close();
  return token;
}

async function signIn(url: string): Promise<Client> {
  const client = createClient(url, { keepCookies: true });
  const { status } = await client.post('/api/v1/auth/login', { email, password });
  if (status !== 200) throw new Error(`the sign-in answered ${status}`);
  return client;
}

/** Loads the daemon until Node has compiled its code, so that compilation is not measured. */
async function warmUp(url: string, shots: Shot[]): Promise<void> {
  for (const shot of shots) await load(url, shot, 4, warmUpMs);
}

/** The requests of a stage. */
export function shotsOf(cookie: string, token: string): Omit<Stage['shots'], 'verify'> {
  const login = (address: string, given: string, expect: number): Shot => ({
    path: '/api/v1/auth/login',
    method: 'POST',
    body: { email: address, password: given },
    expect,
  });
  const me = { path: '/api/v1/me', expect: 200 };
  return {
    right: login(email, password, 200),
    wrong: login(email, 'wrong', 401),
    unknown: login('nobody@example.test', 'wrong', 401),
    disabled: login(disabledEmail, password, 401),
    meByCookie: { ...me, headers: { cookie } },
    meByToken: { ...me, headers: { authorization: `Bearer ${token}` } },
  };
}
