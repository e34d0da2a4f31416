import { spawnSync } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDomain, assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import type { Daemon } from '../support/daemon.ts';
import { dialect } from '../support/database.ts';
import { type Answer, type Client, createClient } from '../support/http.ts';
import { type Installation, install } from '../support/installation.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { open } from '../support/pages.ts';
import { mailUser, type Smtp, startSmtp } from '../support/smtp.ts';
import { vouch } from './returning.ts';

// Security X4: the test plants secrets in commands, requests and a provider's answers, right and
// wrong ones. Then it searches for them in everything that idctl has written or shown.

const domain = 'acme.test';
const eve = `eve@${domain}`;
const planted = (what: string) => `CANARY-${what}-7Yq2vX9`;

/** The planted secrets by name. None may be found anywhere. */
const secrets = {
  password: planted('password'),
  changedPassword: planted('changed'),
  wrongPassword: planted('wrong'),
  clientSecret: planted('client-secret'),
  idpAccessToken: planted('idp-access-token'),
  code: planted('authorization-code'),
  badCode: planted('refused-code'),
  header: planted('header'),
  cookie: planted('cookie'),
  query: planted('query'),
  malformed: planted('malformed'),
  surplus: planted('surplus'),
  said: planted('error-description'),
  unparsable: planted('unparsable'),
  personal: planted('birthdate'),
  resetPassword: planted('reset'),
  mailServer: mailUser.password,
};
/** Secrets that exist only at run time, by name. */
const learned = new Map<string, string>();

let provider: LyingProvider;
let smtp: Smtp;
let site: Installation;
let daemon: Daemon;
let browser: Client;
/** All output, except answers whose purpose is to return a secret. */
const shown: string[] = [];
const commands = new Set<string>();

beforeAll(async () => {
  provider = await startLyingProvider('idctl', '');
  smtp = await startSmtp({ kind: 'starttls' });
  const mail = { IDCTL_MAIL_SMTP_URL: smtp.url, IDCTL_MAIL_CA_FILE: smtp.caFile };
  site = await install({
    env: { IDCTL_OUTBOUND_ALLOW: '127.0.0.1', IDCTL_LOG_LEVEL: 'debug', ...mail },
    prepare: async (operator) => {
      await addDomain(operator(), { org: 'acme', domain });
      await assertDomain(operator(), { org: 'acme', domain });
    },
  });
  learned.set(
    'masterKey',
    /^[\w-]{43}$/m.exec(await readFile(site.keyFile, 'utf8'))?.[0] ?? 'no key',
  );
  daemon = await site.serve();
  browser = createClient(daemon.url, { keepCookies: true });
  await live();
}, 240_000);
afterAll(async () => {
  await site?.close();
  await provider?.stop();
  await smtp?.stop();
});

/** Runs the commands and requests that contain the planted secrets. */
async function live(): Promise<void> {
  await watched(async () => {
    await atTheTerminal();
    await byPassword();
    await byRecoveryCode();
    await bySetupLink();
    await byMail();
    await byProvider();
    await wrongly();
    await read();
  });
}

async function atTheTerminal(): Promise<void> {
  const at = [
    '--org',
    'acme',
    '--domain',
    domain,
    '--issuer',
    provider.issuer,
    '--client-id',
    'idctl',
  ];
  await run(['user', 'create', eve, '--name', 'Eve', '--password-stdin'], secrets.password);
  await run(['user', 'create', eve, '--name', 'Eve', '--password-stdin'], secrets.password);
  await run(['user', 'password', 'nobody@acme.test', '--password-stdin'], secrets.wrongPassword);
  await run(['sso', 'set', ...at, '--secret-stdin'], secrets.clientSecret);
  // This provider cannot confirm the client before a sign-in, so the command skips the test.
  await run(['sso', 'enable', '--org', 'acme', '--force']);
  await run(['sso', 'show', '--org', 'acme', '--json']);
  const hook = ['webhook', 'add', `${provider.issuer}/hooks`, '--org', 'acme', '--json'];
  const added = JSON.parse((await site.run(hook)).out);
  learn('webhookSecret', added.secret.slice('whsec_'.length));
  const rotated = JSON.parse((await site.run(['webhook', 'rotate', added.id, '--json'])).out);
  learn('newWebhookSecret', rotated.secret.slice('whsec_'.length));
  await run(['webhook', 'list', '--org', 'acme', '--json']);
}

async function byPassword(): Promise<void> {
  const login = (password: string) => browser.post('/api/v1/auth/login', { email: eve, password });
  see(await login(secrets.wrongPassword));
  await signIn(login(secrets.password));
  const token = await browser.post('/api/v1/me/tokens', { name: 'laptop' });
  learn('personalAccessToken', token.body.token);
  const app = await browser.post('/api/v1/me/apps', { name: 'builder' });
  learn('appSecret', app.body.clientSecret);
  await asApp(app.body.clientId, app.body.clientSecret);
  const totp = await browser.post('/api/v1/me/totp');
  learn('totpSecret', totp.body.secret);
  see(await browser.post('/api/v1/me/totp/confirm', { code: '000000' }));
  const passwords = { currentPassword: secrets.password, newPassword: secrets.changedPassword };
  see(
    await browser.post('/api/v1/me/password', {
      ...passwords,
      currentPassword: secrets.wrongPassword,
    }),
  );
  see(await browser.post('/api/v1/me/password', passwords));
  await signIn(browser.post('/api/v1/auth/refresh'));
  see(
    await browser.get('/api/v1/me', {
      authorization: `Bearer ${learned.get('personalAccessToken')}`,
    }),
  );
}

async function byRecoveryCode(): Promise<void> {
  const user = ['--user', `rita@${domain}`];
  const create = ['user', 'create', `rita@${domain}`, '--name', 'Rita', '--password-stdin'];
  await run(create, secrets.password);
  const outOf = async (words: string[]) => JSON.parse((await site.run([...words, '--json'])).out);
  const { secret } = await outOf(['totp', 'enroll', ...user]);
  learn('totpSecret', secret);
  const code = generateSync({ secret, epoch: Math.floor(Date.now() / 1000) });
  const { recoveryCodes } = await outOf(['totp', 'confirm', ...user, '--code', code]);
  learn('replacedRecoveryCode', recoveryCodes[0]);
  const { codes } = await outOf(['recovery-code', 'regenerate', ...user, '--yes']);
  learn('usedRecoveryCode', codes[0]);
  learn('recoveryCode', codes[1]);
  const rita = createClient(daemon.url, { keepCookies: true });
  const login = (recoveryCode: string) =>
    rita.post('/api/v1/auth/login', {
      email: `rita@${domain}`,
      password: secrets.password,
      recoveryCode,
    });
  see(await login(recoveryCodes[0]));
  await signIn(login(codes[0]));
  see(await login(codes[0]));
  see(await rita.get('/api/v1/me/recovery-codes'));
  await run(['recovery-code', 'status', ...user, '--json']);
}

async function asApp(client_id: string, client_secret: string): Promise<void> {
  const form = { grant_type: 'client_credentials', client_id, client_secret };
  const { body } = await browser.form('/api/v1/oauth/token', form);
  learn('botToken', body.access_token);
  const asked = { client_id, client_secret, token: body.access_token };
  see(await browser.form('/api/v1/oauth/introspect', asked));
  see(await browser.form('/api/v1/oauth/token', { ...form, client_secret: secrets.clientSecret }));
  see(await browser.form(`/api/v1/oauth/token?client_secret=${secrets.query}`, form));
  see(await browser.form('/api/v1/oauth/token', { ...form, grant_type: secrets.surplus }));
}

async function byProvider(): Promise<void> {
  const come = async (code: string, more: Record<string, string> = {}) => {
    const { searchParams } = new URL(
      (await browser.get(`/auth/sso/start?domain=${domain}`)).body.authorizationUrl,
    );
    const nonce = searchParams.get('nonce') ?? '';
    const person = {
      sub: 'grace',
      email: `grace@${domain}`,
      birthdate: secrets.personal,
      name: 'Grace',
    };
    const { token } = provider.answers;
    await vouch(provider, nonce, person);
    const { body } = await provider.answers.token({ path: '/token', headers: {}, body: '' });
    if (token === refusing || token === babbling) provider.answers.token = token;
    else
      provider.answers.token = () => ({
        body: { ...(body as object), access_token: secrets.idpAccessToken },
      });
    learn('idToken', String((body as Record<string, unknown>)['id_token']));
    const state = searchParams.get('state') ?? '';
    return browser.get(`/auth/sso/callback?${new URLSearchParams({ code, state, ...more })}`);
  };
  await signIn(come(secrets.code));
  provider.answers.token = refusing;
  see(await come(secrets.badCode));
  provider.answers.token = babbling;
  see(await come(secrets.badCode));
  provider.answers.token = () => ({ body: {} });
  see(await come(secrets.badCode, { error: 'access_denied', error_description: secrets.said }));
  for (const { body, headers } of provider.seen) {
    learn('codeVerifier', new URLSearchParams(body).get('code_verifier'));
    learn(
      'clientAuthentication',
      headers.authorization?.startsWith('Basic ') ? headers.authorization.slice(6) : null,
    );
  }
}

async function byMail(): Promise<void> {
  const guest = `guest@${domain}`;
  const invited = await site.run([
    'invitation',
    'create',
    guest,
    '--org',
    'acme',
    '--role',
    'member',
    '--json',
  ]);
  learn('invitationToken', JSON.parse(invited.out).token);
  await smtp.letterTo(guest);
  await run(['invitation', 'list', '--org', 'acme', '--json']);
  see(await browser.post('/api/v1/auth/password/reset', { email: eve }));
  const given = { email: eve, code: await smtp.codeTo(eve), newPassword: secrets.resetPassword };
  see(await browser.post('/api/v1/auth/password/reset/confirm', { ...given, code: '000000' }));
  see(await browser.post('/api/v1/auth/password/reset/confirm', given));
  // The daemon logs a mail that it could not send, and must not log its code.
  smtp.refuse(550);
  see(await browser.post('/api/v1/auth/magic-code', { email: eve }));
  while (!daemon.log().includes('mail not sent')) await pause(50);
  await run(['event', 'list', '--json']);
}

async function bySetupLink(): Promise<void> {
  const vendor = `it@${domain}`;
  const words = ['setup-link', 'create', '--org', 'acme', '--for', 'domain,sso'];
  const { out } = await site.run([...words, '--email', vendor, '--json']);
  const { pathname } = new URL(JSON.parse(out).url);
  learn('setupToken', pathname.split('/').at(-1));
  await smtp.letterTo(vendor);
  const opener = createClient(daemon.url, { keepCookies: true });
  await (await open(opener, pathname)).submit(pathname);
  learn('setupBrowser', opener.jar.get('idctl-setup'));
  see(await opener.get('/setup'));
  see(await createClient(daemon.url).get(pathname));
  see(await createClient(daemon.url).get(`/setup/${secrets.query}`));
  await run(['setup-link', 'list', '--org', 'acme', '--json']);
}

const refusing = () => ({
  status: 400,
  body: { error: 'invalid_grant', error_description: secrets.said },
});
const babbling = () => ({ body: `${secrets.unparsable}&access_token=${secrets.idpAccessToken}` });

async function wrongly(): Promise<void> {
  const json = { 'content-type': 'application/json' };
  see(await browser.get('/api/v1/me', { authorization: `Bearer ${secrets.header}` }));
  see(await browser.get('/api/v1/me', { 'x-api-key': `${secrets.header} ${secrets.header}` }));
  see(await browser.get('/api/v1/me', { authorization: `Basic ${btoa(`eve:${secrets.header}`)}` }));
  see(
    await createClient(daemon.url).get('/api/v1/me', { cookie: `access_token=${secrets.cookie}` }),
  );
  see(await browser.get(`/api/v1/me?token=${secrets.query}`));
  see(await browser.get(`/nowhere?token=${secrets.query}`));
  see(await browser.get(`/auth/sso/callback?state=${secrets.query}&code=${secrets.code}`));
  see(
    await browser.post(
      '/api/v1/auth/login',
      `{"email":"${eve}","password":"${secrets.malformed}`,
      json,
    ),
  );
  see(await browser.post('/api/v1/auth/login', `"${secrets.malformed}"`, json));
  see(await browser.post('/api/v1/auth/login', { email: eve, password: [secrets.malformed] }));
  see(
    await browser.post('/api/v1/auth/login', { email: eve, password: 'x', more: secrets.surplus }),
  );
  see(
    await browser.post('/api/v1/auth/login', {
      email: secrets.malformed,
      password: secrets.malformed,
    }),
  );
  see(await browser.post('/api/v1/auth/refresh', { refreshToken: secrets.malformed }));
  see(
    await browser.post('/api/v1/auth/signup', {
      email: 'x@acme.test',
      password: secrets.wrongPassword,
      name: 'X',
    }),
  );
}

async function read(): Promise<void> {
  for (const words of [
    ['event', 'list', '--org', 'acme'],
    ['sso', 'attempts', '--org', 'acme'],
    ['sso', 'test', '--org', 'acme'],
    ['user', 'list'],
    ['session', 'list', '--user', eve],
    ['pat', 'list', '--user', eve],
    ['app', 'list', '--user', eve],
    ['key', 'list'],
    ['config', 'show'],
  ]) {
    await run([...words, '--json']);
  }
  for (const path of ['/api/v1/me', '/api/v1/me/sessions', '/api/v1/me/tokens', '/api/v1/me/apps'])
    see(await browser.get(path));
}

async function run(words: string[], input?: string): Promise<void> {
  const { out, err, code } = await site.run(words, input);
  if (code === 70) throw new Error(`${words.join(' ')}: ${err}`);
  shown.push(out, err);
}

function see({ status, headers, body }: Answer): void {
  if (status >= 500 && status !== 502) throw new Error(`an answer was ${status}`);
  shown.push(JSON.stringify([status, headers, body]));
}

async function signIn(answer: Promise<Answer>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`a sign-in was ${status} ${JSON.stringify(body)}`);
  learn('accessToken', body.accessToken);
  learn('refreshToken', body.refreshToken);
}

function learn(name: string, value: string | null | undefined): void {
  if (value) learned.set(`${name}${learned.has(name) ? learned.size : ''}`, value);
}

/** Records the command lines that `ps` would show while `work` runs. */
async function watched(work: () => Promise<void>): Promise<void> {
  let over = false;
  const watching = (async () => {
    while (!over) {
      for (const pid of await readdir('/proc').catch(() => [])) {
        if (!/^\d+$/.test(pid)) continue;
        commands.add(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
      }
      await pause(10);
    }
  })();
  await work().finally(() => {
    over = true;
  });
  await watching;
}

/** Every secret's name with its text: plain, percent-encoded, in base64, base64url and hex. */
function spellings(): [string, string][] {
  const known = [
    ...Object.entries(secrets),
    ['ownerPassword', site.owner.password] as const,
    ...learned,
  ];
  return known.flatMap(([name, text]) =>
    [
      ...new Set([
        text,
        encodeURIComponent(text),
        ...(['base64', 'base64url', 'hex'] as const).map((as) => Buffer.from(text).toString(as)),
      ]),
    ].map((spelling): [string, string] => [name, spelling]),
  );
}

function foundIn(text: string): string[] {
  return [
    ...new Set(spellings().flatMap(([name, spelling]) => (text.includes(spelling) ? [name] : []))),
  ];
}

/** The whole content of the database. */
async function stored(): Promise<string> {
  const file = /^sqlite:(.*)/.exec(site.database)?.[1];
  if (file !== undefined) {
    const folder = dirname(file);
    const files = await Promise.all(
      (await readdir(folder)).map((name) => readFile(join(folder, name), 'latin1')),
    );
    return files.join('\n');
  }
  const tables = await site.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  const rows = await Promise.all(
    tables.map(({ tablename }) => site.query(`SELECT t::text FROM "${tablename}" t`)),
  );
  return JSON.stringify(rows);
}

/** The content of a backup. On PostgreSQL, also the database dump in it, unpacked. */
async function backedUp(): Promise<string> {
  const path = join(site.folder, 'idctl.backup');
  expect((await site.run(['backup', path])).code).toBe(0);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const bytes = await readFile(path);
  if (dialect === 'sqlite') return bytes.toString('latin1');
  const unpacked = spawnSync('/usr/bin/pg_restore', ['--file=-'], {
    input: bytes.subarray(bytes.indexOf('PGDMP'), bytes.lastIndexOf('\nend of idctl backup\n')),
    maxBuffer: 1 << 28,
  });
  return `${bytes.toString('latin1')}${unpacked.stdout}`;
}

describe('X4 secrets planted in commands, requests and answers', () => {
  test('X4 the search of this test finds plain and encoded secrets', () => {
    expect(foundIn(`x${secrets.password}x`)).toEqual(['password']);
    expect(foundIn(btoa(secrets.clientSecret))).toEqual(['clientSecret']);
    expect(learned.size).toBeGreaterThanOrEqual(8);
    expect([...learned.keys()].join()).toMatch(/totpSecret.*codeVerifier.*clientAuthentication/);
  });

  test('X4 no secret is in the log of the daemon at its most verbose level', () => {
    expect(daemon.log()).toContain('"path":"/auth/sso/callback"');
    expect(daemon.log()).toContain('"code":"provider_failed"');
    expect(foundIn(daemon.log())).toEqual([]);
  });

  test('X4 no secret is in an error, an event, an attempt or other output', () => {
    const all = shown.join('\n');
    expect(all).toContain('sso.signin.refused');
    expect(all).toContain('signin_failed');
    expect(foundIn(all)).toEqual([]);
  });

  test.skipIf(process.platform !== 'linux')(
    'X4 no secret is in a command line that `ps` shows',
    () => {
      const all = [...commands].join('\n');
      expect(all).toContain('--password-stdin');
      expect(foundIn(all)).toEqual([]);
    },
  );

  test('X4 no secret is in the database', async () => {
    const all = await stored();
    expect(all).toContain(eve);
    expect(all).toContain('$argon2id$');
    expect(foundIn(all)).toEqual([]);
  });

  test.skipIf(dialect === 'postgres' && counterpartMissing('postgresql-client'))(
    'X4 X8 no secret is in a backup, which only its owner can read',
    async () => {
      const all = await backedUp();
      expect(all).toContain(eve);
      expect(all).toContain('$argon2id$');
      expect(foundIn(all)).toEqual([]);
    },
  );
});
