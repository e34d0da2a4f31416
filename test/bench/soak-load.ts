import type { Context } from '../../src/context.ts';
import { appOf } from '../support/apps.ts';
import { password } from '../support/builders.ts';
import { type Client, createClient } from '../support/http.ts';
import { baseUrl } from '../support/installation.ts';
import { joined, settingsFor, signInByLdap } from '../support/ldap.ts';
import { openLedger, seededRandom } from '../support/ledger.ts';
import { tina } from '../support/load-credentials.ts';
import { type Load, openLoad, type Stage, setStage } from '../support/mixed-load.ts';
import { startOpenIdProvider } from '../support/openid-provider.ts';
import { startSlapd } from '../support/slapd.ts';
import { startSocial, withGitHub, withGoogle } from '../support/social.ts';
import { connected, registration, signInAt } from '../support/sso.ts';

const restMs = 1000;
const people = Array.from({ length: 20 }, (_, at) => at + 1);

// Limits stay on and count, but a load from one address does not reach them.
const wide = Object.fromEntries(
  ['ACCOUNT_FAILURES', 'ADDRESS_FAILURES', 'LDAP_FAILURES', 'CODE_SENDS', 'TOKEN_REQUESTS'].map(
    (name) => [`IDCTL_LIMITS_${name}`, '1000000'],
  ),
);

/** An instance with its counterparts, and a load for it. */
export interface SoakStage {
  stage: Stage;
  /** Creates the load. The daemon must be running. */
  openLoad(): Promise<Load>;
  stop(): Promise<void>;
}

/** Prepares the instance for every way to sign in. */
export async function setSoakStage(database: string, idctl: string): Promise<SoakStage> {
  const slapd = await startSlapd();
  const social = await startSocial(baseUrl);
  const redirect_uris = [`${baseUrl}/auth/sso/callback`];
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const provider = await startOpenIdProvider({
    clients: [{ client_id, client_secret, redirect_uris }],
  });
  const stopAll = [slapd, social, provider];
  const made = { ldap: '', sso: '', app: { client_id: '', client_secret: '' } };
  const prepare = async (operator: () => Context) => {
    const { domain, org } = await joined({ operator }, settingsFor(slapd));
    made.ldap = org.slug;
    made.sso = (await connected({ operator }, provider.issuer)).domain;
    for (const at of people) {
      const named = (mail: string) => ({ email: mail, email_verified: true, name: 'Ada' });
      await slapd.person(`lu${at}`, { mail: `lu${at}@${domain}` });
      provider.people.set(`su${at}`, named(`su${at}@${made.sso}`));
      social.google.people.set(`gu${at}`, named(`gu${at}@google.test`));
      const emails = [{ email: `hu${at}@github.test`, primary: true, verified: true }];
      social.github.people.set(at, { login: `hu${at}`, emails });
    }
    made.app = (await appOf({ operator, client: createClientOf }, { user: tina })).credentials;
  };
  const { google, github } = social.settings;
  const stage = await setStage({
    ledger: openLedger(),
    random: seededRandom(1),
    database,
    program: [idctl],
    env: {
      ...wide,
      IDCTL_LIMITS_ENABLED: 'on',
      IDCTL_SOCIAL_GOOGLE_CLIENT_ID: google.clientId,
      IDCTL_SOCIAL_GOOGLE_CLIENT_SECRET: google.clientSecret,
      IDCTL_SOCIAL_GOOGLE_ISSUER: google.issuer,
      IDCTL_SOCIAL_GITHUB_CLIENT_ID: github.clientId,
      IDCTL_SOCIAL_GITHUB_CLIENT_SECRET: github.clientSecret,
      IDCTL_SOCIAL_GITHUB_BASE_URL: github.baseUrl,
    },
    prepare,
  });
  const client = createClientAt(stage);
  const anyone = () => people[Math.floor(stage.random() * people.length)] ?? 1;
  const signIns = [
    () => signInByLdap({ client }, { org: made.ldap, username: `lu${anyone()}` }),
    async () => (await signInAt({ client }, provider, made.sso, `su${anyone()}`)).answer,
    async () => (await withGoogle({ idctl: { client }, ...social }, `gu${anyone()}`)).answer,
    async () => (await withGitHub({ idctl: { client }, ...social }, anyone())).answer,
  ].map((signIn) => noting(stage, 'sign in', signIn));
  const others = [reader(stage), bot(stage, made.app), filterer(stage), commander(stage)];
  return {
    stage,
    openLoad: () => openLoad(stage, [...signIns, ...others], restMs),
    async stop() {
      await stage.close();
      for (const one of stopAll) await one.stop();
    },
  };
}

type CreateClient = (options?: Parameters<typeof createClient>[1]) => Client;

// The preparation does not send a request with this client, as no daemon runs yet.
const createClientOf: CreateClient = (options) => createClient(baseUrl, options);

const createClientAt =
  (stage: Stage): CreateClient =>
  (options) =>
    createClient(stage.url, options);

/** A step that sends one request, and records a fault if it is refused. */
function noting(
  { ledger }: Stage,
  what: string,
  ask: () => ReturnType<Client['get']>,
): () => Promise<void> {
  return async () => {
    await ledger.write(what, {}, ask);
  };
}

/** Reads its account with a session cookie, and an account and members with a token. */
function reader(stage: Stage): () => Promise<void> {
  let client = createClient(stage.url, { keepCookies: true });
  let until = 0;
  return async () => {
    if (Date.now() > until) {
      client = createClient(stage.url, { keepCookies: true });
      const signIn = () => client.post('/api/v1/auth/login', { email: tina, password });
      if ((await stage.ledger.write('sign in', {}, signIn)) === null) return;
      // Shorter than the lifetime of an access token.
      until = Date.now() + 600_000;
    }
    const bearer = { authorization: `Bearer ${stage.ownerToken}` };
    for (const read of [
      () => client.get('/api/v1/me'),
      () => createClient(stage.url).get('/api/v1/me', bearer),
      () => createClient(stage.url).get('/api/v1/orgs/acme/members?limit=20', bearer),
    ])
      await noting(stage, 'read', read)();
  };
}

/** An app gets a token, uses it, introspects it and revokes it. */
function bot(stage: Stage, app: Record<string, string>): () => Promise<void> {
  const { ledger } = stage;
  const form = (path: string, fields: Record<string, string>) =>
    createClient(stage.url).form(`/api/v1/oauth/${path}`, { ...app, ...fields });
  return async () => {
    const made = await ledger.write('take a bot token', {}, () =>
      form('token', { grant_type: 'client_credentials' }),
    );
    const token = String(made?.access_token);
    const bearer = { authorization: `Bearer ${token}` };
    for (const use of [
      () => createClient(stage.url).get('/api/v1/me', bearer),
      () => form('introspect', { token }),
      () => form('revoke', { token }),
    ])
      await noting(stage, 'use a bot token', use)();
  };
}

/** Looks people up with SCIM, as a client does before it writes, and reads a page. */
function filterer(stage: Stage): () => Promise<void> {
  const { users, token } = stage.scim;
  const get = (query: string) =>
    createClient(stage.url).get(`${users}?${query}`, { authorization: `Bearer ${token}` });
  const queries = [
    'filter=userName%20eq%20%22olga@acme.test%22',
    'filter=emails.value%20eq%20%22member1@acme.test%22',
    'filter=displayName%20sw%20%22Name%201%22&count=5',
    'startIndex=50&count=20',
  ];
  return async () => {
    const query = queries[Math.floor(stage.random() * queries.length)] ?? '';
    await noting(stage, 'look people up', () => get(query))();
  };
}

const commands = [
  ['user', 'list'],
  ['member', 'list', '--org', 'acme'],
  ['event', 'list', '--org', 'acme'],
  ['project', 'create', 'Website', '--org', 'acme'],
  ['project', 'delete', 'website', '--org', 'acme'],
  ['status'],
];

/** Runs a command beside the daemon, at most every five seconds. */
function commander({ site, ledger }: Stage): () => Promise<void> {
  let [turn, next] = [0, 0];
  return async () => {
    if (Date.now() < next) return;
    next = Date.now() + 5000;
    const words = commands[turn % commands.length] ?? [];
    turn += 1;
    const { code, err } = await site.run([...words, '--json', '--yes']);
    if (code !== 0) ledger.faults.push(`idctl ${words.join(' ')}: ${code} ${err}`);
  };
}
