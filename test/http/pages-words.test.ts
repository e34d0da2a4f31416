import { afterAll, beforeAll, expect, test } from 'vitest';
import { settings } from '../../src/config/setting-list.ts';
import { pages } from '../../src/http/surface.ts';
import { createLog } from '../../src/log/log.ts';
import { password, person, signedIn } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';

// Pages say what happened and what to do next, in words that need no technical knowledge.

let idctl: Idctl;
const log: Record<string, unknown>[] = [];
beforeAll(async () => {
  idctl = await openIdctl({ limits: { accountFailures: 2, addressFailures: 1000 } });
  const write = (line: string) => void log.push(JSON.parse(line));
  Object.assign(idctl.app, { log: createLog({ log: { level: 'info' } }, { write }) });
});
afterAll(() => idctl.close());

const asBrowser = { accept: 'text/html' };
const textOf = (body: string) =>
  body.replace(/<style.*?<\/style>|<[^>]*>/gs, ' ').replace(/\s+/g, ' ');

const keys = settings()
  .map(({ key }) => key.replaceAll('.', '\\.'))
  .filter((key) => key.includes('.'));
const header =
  /\b(Retry-After|Content-Type|Set-Cookie|Authorization|Accept|Host header|Sec-Fetch)\b/;
const technical = [
  header,
  new RegExp(`\\b(${keys.join('|')}|returnToOrigins|baseUrl|idctl\\.yaml)\\b`),
  /(?<![\w-])[45]\d\d(?![\w-])/,
  /\b(GET|POST|PUT|PATCH|DELETE|JSON|HTTP)\b|returnTo|\/api\/v1/,
];

function requirePlain(where: string, body: unknown) {
  const text = textOf(String(body));
  for (const pattern of technical)
    expect([where, text]).toEqual([where, expect.not.stringMatching(pattern)]);
}

/** Opens every page and submits every form with wrong input, and returns the bodies. */
async function seen(client: Client): Promise<[string, unknown][]> {
  const found: [string, unknown][] = [];
  const queries = [
    '',
    '?returnTo=https://evil.test/x',
    '?identifier=ada@acme.test',
    '?identifier=a%20b',
    '?token=x',
  ];
  for (const { method, path, input } of pages) {
    for (const query of method === 'GET' ? queries : ['']) {
      if (method === 'GET') {
        found.push([path + query, (await client.get(path + query, asBrowser)).body]);
        continue;
      }
      for (const value of ['', 'x', '<b>'.repeat(700)]) {
        const form = await open(
          client,
          path.startsWith('/account') ? '/' : '/login?identifier=ada@acme.test',
        );
        const token = /name="token" value="([^"]+)"/.exec(String(form.body))?.[1] ?? '';
        const fields = Object.fromEntries(Object.keys(input.shape).map((name) => [name, value]));
        found.push([
          `${path} ${value.slice(0, 3)}`,
          (await client.form(path, { ...fields, token }, asBrowser)).body,
        ]);
      }
      found.push([`${path} without a token`, (await client.form(path, {}, asBrowser)).body]);
    }
  }
  for (const path of [
    '/nothing',
    '/login/%',
    '/auth/sso/start?domain=nowhere.test',
    '/auth/sso/callback?state=x&code=y',
  ]) {
    found.push([path, (await client.get(path, asBrowser)).body]);
  }
  for (const path of [
    '/auth/social/google/start',
    '/auth/social/github/callback',
    '/auth/sso/start?domain=x',
  ]) {
    found.push([path, (await client.get(path, asBrowser)).body]);
  }
  found.push(['POST /login', (await client.send('POST', '/login', { headers: asBrowser })).body]);
  found.push([
    'cross-site',
    (await client.form('/login/password', {}, { ...asBrowser, origin: 'https://evil.test' })).body,
  ]);
  return found;
}

test('no page names a configuration key, a header or a status code, whatever fails', async () => {
  const strangers = await seen(idctl.client({ keepCookies: true }));
  const { email } = await person(idctl);
  const members = await seen(await signedIn(idctl, email));
  for (const [where, body] of [...strangers, ...members]) requirePlain(where, body);
});

test('P8 a limit says in minutes when to try again, on the page and over REST', async () => {
  const { email } = await person(idctl);
  const client = idctl.client({ keepCookies: true });
  let page: Opened = await open(client, `/login?identifier=${email}`);
  for (let at = 0; at < 3; at += 1)
    page = await page.submit('/login/password', { password: 'not the password' });
  expect([page.status, page.text]).toEqual([
    429,
    expect.stringContaining('Too many attempts. Try again in 15 minutes.'),
  ]);
  requirePlain('limit', page.body);
  idctl.wait(200);
  const { status, headers, body } = await idctl
    .client()
    .post('/api/v1/auth/login', { email, password });
  expect([status, body.code, `${body.detail} ${body.hint}`]).toEqual([
    429,
    'too_many_requests',
    'Too many attempts. Try again in 12 minutes.',
  ]);
  expect(Math.ceil(Number(headers['retry-after']) / 60)).toBe(12);
});

test('S7 the person reads that the application is not known; the log names the setting and the origin', async () => {
  const returnTo = 'https://evil.test/secret?token=1';
  for (const path of ['/login', '/auth/sso/start']) {
    const query = new URLSearchParams({
      returnTo,
      ...(path === '/login' ? {} : { domain: 'x.test' }),
    });
    const { status, body } = await idctl.client().get(`${path}?${query}`, asBrowser);
    expect([status, textOf(String(body))]).toEqual([
      400,
      expect.stringContaining('This application is not known here. Ask its administrator.'),
    ]);
    requirePlain(path, body);
  }
  await expect
    .poll(() => log.filter(({ msg }) => msg === 'returnTo refused').slice(-2))
    .toMatchObject([
      { host: 'https://evil.test', reason: 'not in http.returnToOrigins' },
      { host: 'https://evil.test' },
    ]);
  expect(JSON.stringify(log)).not.toContain('secret?token');
});
