import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { type Context, openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { createClient as registerClient } from '../../src/services/tenancy/clients/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { startDaemon } from '../support/daemon.ts';
import { type Client, createClient } from '../support/http.ts';
import { startPostgres } from '../support/postgres.ts';
import { figure } from './figures.ts';

// Measures code flows of signed-in people, against oidc-provider alone in memory (goal: 60 %). A
// flow is an authorization request and a token request. Sixteen browsers run flows at once, with
// one program and then the other.

const ms = 2000;
const atOnce = 16;
const redirect = 'https://app.example.test/callback';
const password = 'correct horse battery';
const verifier = 'a'.repeat(43);
const challenge = createHash('sha256').update(verifier).digest('base64url');

interface Subject {
  url: string;
  authorization: string;
  token: string;
  client: { client_id: string; client_secret: string };
  browser: Client;
}

/** Benchmarks code flows on one database. */
export async function benchCodeFlow(name: 'SQLite' | 'PostgreSQL', rounds: number) {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-bench-'));
  const server = name === 'PostgreSQL' ? await startPostgres() : null;
  const database = server?.url ?? `sqlite:${join(folder, 'idctl.db')}`;
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  await populate(database, keyFile);
  const client = await registerApplication(database, keyFile);
  const daemon = await startDaemon({
    database,
    keyFile,
    env: { IDCTL_LOG_LEVEL: 'info', IDCTL_LIMITS_TOKEN_REQUESTS: '1000000' },
  });
  const bare = fork(fileURLToPath(new URL('./bare-provider.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  try {
    const peerUrl = String((await once(bare, 'message'))[0]);
    const [ours, peer]: [Subject[], Subject[]] = [[], []];
    for (let at = 0; at < atOnce; at += 1) {
      ours.push(await signedIn(daemon.url, client));
      peer.push(await atPeer(peerUrl));
    }
    const [limits, flows]: [number[], number[]] = [[], []];
    for (let round = 0; round <= rounds; round += 1) {
      const limit = await rate(peer);
      const flow = await rate(ours);
      // The first round warms both up.
      if (round > 0) {
        limits.push(limit);
        flows.push(flow);
      }
    }
    const share = flows.map((flow, at) => (100 * flow) / (limits[at] ?? flow));
    return [
      figure('code flows of oidc-provider alone', limits, '/s'),
      figure('code flows of idctl', flows, '/s'),
      figure('code flows, against that limit', share, '%', { least: 60 }),
    ];
  } finally {
    bare.disconnect();
    await daemon.stop();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function populate(database: string, keyFile: string): Promise<void> {
  await asOperator(database, keyFile, async (operator) => {
    const email = 'ada@example.test';
    await createUser(operator, { email, name: 'Ada Byron', password });
    await createOrganization(operator, { name: 'Acme' });
    await addMember(operator, { org: 'acme', email, role: 'member' });
  });
}

/** Registers the application of the flows in the organization Acme. */
export async function registerApplication(
  database: string,
  keyFile: string,
  more: { forwardAuthOrigins?: string[] } = {},
): Promise<Subject['client']> {
  return asOperator(database, keyFile, async (operator) => {
    const given = { org: 'acme', name: 'Bench', redirectUris: [redirect], ...more };
    const made = await registerClient(operator, registerClient.input.parse(given));
    return { client_id: made.clientId, client_secret: made.clientSecret ?? '' };
  });
}

async function asOperator<T>(
  url: string,
  keyFile: string,
  work: (operator: Context) => Promise<T>,
): Promise<T> {
  const settings = configSchema.parse({ log: { level: 'fatal' } });
  const database = { ...settings.database, url };
  const config = { ...settings, baseUrl: 'http://127.0.0.1', keyFile, database };
  const app = await openApp({ config }, { migrate: 'yes' });
  try {
    return await work(openContext(app, { kind: 'operator', name: 'bench' }));
  } finally {
    await app.close();
  }
}

/** A browser in which Ada is signed in, and the application. */
export async function signedIn(url: string, client: Subject['client']): Promise<Subject> {
  const browser = createClient(url, { keepCookies: true });
  await browser.post('/api/v1/auth/login', { email: 'ada@example.test', password });
  return { url, client, browser, authorization: '/oauth/authorize', token: '/api/v1/oauth/token' };
}

/** Signs Ada in at the peer, and keeps its cookies. */
async function atPeer(url: string): Promise<Subject> {
  const client = { client_id: 'bench', client_secret: 'a secret' };
  const headers = { 'x-sign-in-as': 'ada' };
  const browser = createClient(url, { keepCookies: true, headers });
  const subject = { url, client, browser, authorization: '/auth', token: '/token' };
  let next = addressOf(subject);
  for (let step = 0; step < 8 && next.startsWith('/'); step += 1) {
    const { headers: answered } = await browser.get(next);
    next = String(answered['location']).replace(url, '');
  }
  return subject;
}

function addressOf({ authorization, client }: Subject): string {
  return `${authorization}?${new URLSearchParams({
    client_id: client.client_id,
    response_type: 'code',
    redirect_uri: redirect,
    scope: 'openid email profile',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })}`;
}

/** Measures flows a second; each browser runs one flow at a time. */
async function rate(subjects: Subject[]): Promise<number> {
  const began = performance.now();
  let done = 0;
  const one = async (subject: Subject) => {
    while (performance.now() - began < ms) {
      await flow(subject);
      done += 1;
    }
  };
  await Promise.all(subjects.map(one));
  return done / ((performance.now() - began) / 1000);
}

/** Runs one flow: an authorization request and a token request. */
export async function flow(subject: Subject): Promise<void> {
  const { browser, client, token } = subject;
  const { status, headers } = await browser.get(addressOf(subject));
  const location = URL.parse(String(headers['location']));
  const code = location?.searchParams.get('code');
  if (!code) throw new Error(`no code: ${status} ${location}`);
  const grant = { grant_type: 'authorization_code', redirect_uri: redirect, code };
  const answer = await browser.form(token, { ...client, ...grant, code_verifier: verifier });
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
}
