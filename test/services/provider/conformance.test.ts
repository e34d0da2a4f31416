import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Session } from '../../../src/database/models/session.ts';
import { transaction } from '../../../src/database/transaction.ts';
import { tellClients } from '../../../src/services/signin/provider/sign-outs.ts';
import type { Client } from '../../support/http.ts';
import { type Idctl, openIdctl } from '../../support/idctl.ts';
import { open } from '../../support/pages.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { application, browserOf, walk, walkTo } from '../../support/relying-party.ts';

// The modules of the OpenID Foundation's certification plans, run against idctl by their names. The
// page docs/conformance.md is the table of these tests: module, request and answer.

let idctl: Idctl;
let receiver: Receiver;
let app: Awaited<ReturnType<typeof application>>;
let browser: Client;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] }, limits: { enabled: 'off' } });
  receiver = await startReceiver();
  app = await application(idctl, { backchannelLogoutUri: receiver.url });
  browser = await browserOf(idctl, app.email);
});
afterAll(async () => {
  await receiver.stop();
  await idctl.close();
});

type Params = Record<string, string>;
type Module = [name: string, request: string, answer: string, run: () => Promise<string>];

/** Sends an authorization request from the signed-in browser; says what comes back. */
const asking = (params: Params, from?: () => Client) => async () => {
  const page = await walkTo(from?.() ?? browser, (await app.begin(params)).path);
  return outcomeOf(page.headers['location'], page.body);
};

function outcomeOf(location: unknown, body: unknown): string {
  const back = typeof location === 'string' ? new URL(location, idctl.baseUrl) : null;
  const query = back?.origin === 'https://app.example.test' ? back.searchParams : null;
  if (query?.has('code')) return 'a code';
  if (query?.has('error')) return String(query.get('error'));
  if (/name="code"/.test(String(body))) return 'a form with a code';
  const hidden = /name="error" value="(\w+)"/.exec(String(body))?.[1];
  if (hidden !== undefined) return `a form with ${hidden}`;
  if (/Sign in to continue/.test(String(body))) return 'the sign-in page';
  return /does not work/.test(String(body)) ? 'an error page' : 'another page';
}

/** Runs a whole code flow with openid-client, which checks the ID token; names some claims. */
const flow =
  (params: Params, ...names: string[]) =>
  async () => {
    const claims: Record<string, unknown> = (await app.signIn(browser, params)).claims() ?? {};
    expect(claims).toMatchObject({ sub: app.member.id, acr: 'urn:idctl:1' });
    return ['an ID token', ...names.filter((name) => claims[name] !== undefined)].join(', ');
  };

const scope = (words: string) => ({ scope: `openid ${words}`.trim() });
const stranger = () => idctl.client({ keepCookies: true });

async function withoutParameter(name: string): Promise<string> {
  const { path } = await app.begin();
  const url = new URL(path, idctl.baseUrl);
  url.searchParams.delete(name);
  const page = await walkTo(browser, url.pathname + url.search);
  return outcomeOf(page.headers['location'], page.body);
}

async function redeemedTwice(seconds: number): Promise<string> {
  const { path, checks } = await app.begin();
  const callback = new URL(await walk(browser, path));
  const redeem = () => openid.authorizationCodeGrant(app.config, callback, checks);
  const first = await redeem();
  idctl.wait(seconds);
  const again = await redeem().then(
    () => 'tokens',
    (error: openid.ResponseBodyError) => error.error,
  );
  const info = await userinfo('get', first.access_token);
  return `${again}; the first access token: ${info}`;
}

async function userinfo(form: 'get' | 'header' | 'body', token: string): Promise<string> {
  const by = { authorization: `Bearer ${token}` };
  const client = idctl.client();
  const { status, body } = await {
    get: () => client.get('/oauth/userinfo', by),
    header: () => client.form('/oauth/userinfo', {}, by),
    body: () => client.form('/oauth/userinfo', { access_token: token }),
  }[form]();
  return body.sub === app.member.id ? 'the claims' : String(status);
}

const info = (form: 'get' | 'header' | 'body') => async () =>
  userinfo(form, (await app.signIn(browser)).access_token);

async function signedInAgain(params: Params): Promise<string> {
  const createdAt = new Date(Date.now() - 60_000);
  await transaction(() => Session.update({ createdAt }, { where: { accountId: app.member.id } }));
  return asking(params)();
}

async function posted(): Promise<string> {
  const { url } = await app.begin();
  const answer = await browser.form('/oauth/authorize', Object.fromEntries(url.searchParams));
  const page = await walkTo(browser, String(answer.headers['location']));
  return outcomeOf(page.headers['location'], page.body);
}

async function hinted(): Promise<string> {
  const hint = (await app.signIn(browser)).id_token ?? '';
  return asking({ prompt: 'none', id_token_hint: hint })();
}

async function refreshed(): Promise<string> {
  const tokens = await app.signIn(browser, scope('offline_access'));
  const next = await openid.refreshTokenGrant(app.config, tokens.refresh_token ?? '');
  return next.claims()?.sub === app.member.id ? 'new tokens of the same person' : 'other tokens';
}

const requestObject = Buffer.from('{"alg":"none"}').toString('base64url');

const basic: Module[] = [
  ['oidcc-server', 'A code flow', 'an ID token', flow({})],
  [
    'oidcc-response-type-missing',
    'No response_type',
    'invalid_request',
    () => withoutParameter('response_type'),
  ],
  ['oidcc-idtoken-signature', 'An ID token, checked by its key', 'an ID token', flow({})],
  ['oidcc-userinfo-get', 'Userinfo by GET', 'the claims', info('get')],
  ['oidcc-userinfo-post-header', 'Userinfo by POST', 'the claims', info('header')],
  ['oidcc-userinfo-post-body', 'Userinfo, token in the body', 'the claims', info('body')],
  [
    'oidcc-ensure-request-without-nonce-succeeds-for-code-flow',
    'No nonce',
    'a code',
    () => withoutParameter('nonce'),
  ],
  ['oidcc-scope-profile', 'Scope profile', 'an ID token, name', flow(scope('profile'), 'name')],
  ['oidcc-scope-email', 'Scope email', 'an ID token, email', flow(scope('email'), 'email')],
  ['oidcc-scope-address', 'Scope address', 'an ID token', flow(scope('address'), 'address')],
  ['oidcc-scope-phone', 'Scope phone', 'an ID token', flow(scope('phone'), 'phone_number')],
  [
    'oidcc-scope-all',
    'All scopes',
    'an ID token, name, email',
    flow(scope('profile email address phone'), 'name', 'email'),
  ],
  [
    'oidcc-ensure-other-scope-order-succeeds',
    'Scope "email openid"',
    'an ID token, email',
    flow({ scope: 'email openid' }, 'email'),
  ],
  ['oidcc-display-page', 'display=page', 'a code', asking({ display: 'page' })],
  ['oidcc-display-popup', 'display=popup', 'a code', asking({ display: 'popup' })],
  ['oidcc-prompt-login', 'prompt=login', 'the sign-in page', asking({ prompt: 'login' })],
  [
    'oidcc-prompt-none-not-logged-in',
    'prompt=none, not signed in',
    'login_required',
    asking({ prompt: 'none' }, stranger),
  ],
  ['oidcc-prompt-none-logged-in', 'prompt=none', 'a code', asking({ prompt: 'none' })],
  [
    'oidcc-max-age-1',
    'max_age=1, a minute later',
    'the sign-in page',
    () => signedInAgain({ max_age: '1' }),
  ],
  [
    'oidcc-max-age-10000',
    'max_age=10000',
    'an ID token, auth_time',
    flow({ max_age: '10000' }, 'auth_time'),
  ],
  [
    'oidcc-ensure-request-with-unknown-parameter-succeeds',
    'An unknown parameter',
    'a code',
    asking({ extra: 'foobar' }),
  ],
  ['oidcc-id-token-hint', 'id_token_hint, prompt=none', 'a code', hinted],
  ['oidcc-login-hint', 'login_hint', 'a code', asking({ login_hint: 'ada@example.test' })],
  ['oidcc-ui-locales', 'ui_locales', 'a code', asking({ ui_locales: 'se' })],
  ['oidcc-claims-locales', 'claims_locales', 'a code', asking({ claims_locales: 'se' })],
  [
    'oidcc-ensure-request-with-acr-values-succeeds',
    'acr_values',
    'an ID token, acr',
    flow({ acr_values: 'urn:idctl:1 urn:idctl:2' }, 'acr'),
  ],
  [
    'oidcc-codereuse',
    'A code twice',
    'invalid_grant; the first access token: 401',
    () => redeemedTwice(0),
  ],
  [
    'oidcc-codereuse-30seconds',
    'A code again after 30 seconds',
    'invalid_grant; the first access token: 401',
    () => redeemedTwice(30),
  ],
  [
    'oidcc-ensure-registered-redirect-uri',
    'A redirect URI that is not registered',
    'an error page',
    asking({ redirect_uri: 'https://app.example.test/other' }),
  ],
  ['oidcc-ensure-post-request-succeeds', 'The request by POST', 'a code', posted],
  ['oidcc-server-client-secret-post', 'The secret in the form', 'an ID token', flow({})],
  [
    'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
    'A request object',
    'request_not_supported',
    asking({ request: `${requestObject}.e30.` }),
  ],
  [
    'oidcc-claims-essential',
    'The parameter claims',
    'a code',
    asking({ claims: '{"userinfo":{"name":{"essential":true}}}' }),
  ],
  ['oidcc-refresh-token', 'A refresh token', 'new tokens of the same person', refreshed],
  ['oidcc-ensure-request-with-valid-pkce-succeeds', 'PKCE with S256', 'an ID token', flow({})],
];

const posts = { response_mode: 'form_post' };
const formPost: Module[] = [
  ['oidcc-server', 'A code flow with form_post', 'a form with a code', asking(posts)],
  ['oidcc-prompt-login', 'prompt=login', 'the sign-in page', asking({ ...posts, prompt: 'login' })],
  [
    'oidcc-prompt-none-not-logged-in',
    'prompt=none, which shows no page',
    'invalid_request',
    asking({ ...posts, prompt: 'none' }, stranger),
  ],
  [
    'oidcc-response-type-missing',
    'No response_type',
    'a form with invalid_request',
    asking({ ...posts, response_type: '' }),
  ],
  [
    'oidcc-ensure-registered-redirect-uri',
    'A redirect URI that is not registered',
    'an error page',
    asking({ ...posts, redirect_uri: 'https://app.example.test/other' }),
  ],
];

async function discovered(): Promise<string> {
  const { body } = await idctl.client().get('/.well-known/openid-configuration');
  for (const key of ['authorization', 'token', 'userinfo', 'end_session'])
    expect(body[`${key}_endpoint`]).toMatch(new RegExp(`^${idctl.baseUrl}/`));
  expect(body).toMatchObject({
    issuer: idctl.baseUrl,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'EdDSA'],
    backchannel_logout_supported: true,
  });
  expect(body.claims_supported).toEqual(expect.arrayContaining(['sub', 'email', 'groups']));
  const { keys } = (await idctl.client().get('/.well-known/jwks.json')).body;
  expect(keys.map(({ alg }: { alg: string }) => alg).sort()).toEqual(['EdDSA', 'RS256']);
  expect(JSON.stringify(keys)).not.toContain('"d"');
  return 'all required fields, and keys for both algorithms';
}

const bye = 'https://app.example.test/bye';

/** Signs in anew, sends a sign-out request and confirms it if asked; says what the person sees. */
const leaving = (params: (hint: string) => Params) => async () => {
  const own = await browserOf(idctl, app.email);
  const hint = (await app.signIn(own)).id_token ?? '';
  const page = await open(own, `/oauth/logout?${new URLSearchParams(params(hint))}`);
  const asked = page.text.includes('asks to sign you out');
  const after = asked ? await page.submit('/oauth/logout/confirm') : page;
  const gone = (await own.get('/api/v1/me')).status === 401;
  const location = after.headers['location'];
  const to =
    typeof location === 'string' ? `returns to the application${new URL(location).search}` : '';
  const said = [asked ? 'asks' : '', gone ? 'signs out' : 'refuses', to || 'stays'];
  return said.filter(Boolean).join(', ');
};

const changed = (token: string) => `${token.slice(0, -6)}AAAAAA`;
const uri = { post_logout_redirect_uri: bye };
const logout: Module[] = [
  [
    'oidcc-rp-initiated-logout-discovery-endpoint-verification',
    'The discovery document',
    'all required fields, and keys for both algorithms',
    discovered,
  ],
  [
    'oidcc-rp-initiated-logout',
    'ID token, address and state',
    'signs out, returns to the application?state=x',
    leaving((hint) => ({ id_token_hint: hint, ...uri, state: 'x' })),
  ],
  [
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri',
    'An address that is not registered',
    'refuses, stays',
    leaving((hint) => ({ id_token_hint: hint, post_logout_redirect_uri: `${bye}/other` })),
  ],
  [
    'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
    'The address with a query',
    'refuses, stays',
    leaving((hint) => ({ id_token_hint: hint, post_logout_redirect_uri: `${bye}?x=1` })),
  ],
  [
    'oidcc-rp-initiated-logout-bad-id-token-hint',
    'No ID token as hint',
    'asks, signs out, stays',
    leaving(() => ({ id_token_hint: 'bad', ...uri })),
  ],
  [
    'oidcc-rp-initiated-logout-modified-id-token-hint',
    'A changed ID token',
    'asks, signs out, stays',
    leaving((hint) => ({ id_token_hint: changed(hint), ...uri })),
  ],
  [
    'oidcc-rp-initiated-logout-no-id-token-hint',
    'No ID token; one client has the address',
    'asks, signs out, returns to the application?state=x',
    leaving(() => ({ ...uri, state: 'x' })),
  ],
  [
    'oidcc-rp-initiated-logout-no-params',
    'No parameter',
    'asks, signs out, stays',
    leaving(() => ({})),
  ],
  [
    'oidcc-rp-initiated-logout-no-post-logout-redirect-uri',
    'ID token, no address',
    'signs out, stays',
    leaving((hint) => ({ id_token_hint: hint })),
  ],
  [
    'oidcc-rp-initiated-logout-no-state',
    'ID token and address, no state',
    'signs out, returns to the application',
    leaving((hint) => ({ id_token_hint: hint, ...uri })),
  ],
  [
    'oidcc-rp-initiated-logout-only-state',
    'State alone',
    'asks, signs out, stays',
    leaving(() => ({ state: 'x' })),
  ],
  ['oidcc-backchannel-rp-initiated-logout', 'A sign-out', 'a logout token', toldOnSignOut],
];

async function toldOnSignOut(): Promise<string> {
  const own = await browserOf(idctl, app.email);
  const hint = (await app.signIn(own)).id_token ?? '';
  const ended = await walkTo(own, `/oauth/logout?${new URLSearchParams({ id_token_hint: hint })}`);
  expect(ended.body).toContain('You are signed out');
  const anew = () => idctl.as({ kind: 'system', name: 'test' });
  await tellClients(anew(), { stop: new AbortController().signal, anew });
  const sessions = receiver.received.splice(0).map(({ body }) => {
    return decodeJwt(new URLSearchParams(body).get('logout_token') ?? '')['sid'];
  });
  return sessions.includes(decodeJwt(hint)['sid']) ? 'a logout token' : `${sessions.length} others`;
}

const config: Module[] = [
  [
    'oidcc-discovery-endpoint-verification',
    'The discovery document and the keys',
    'all required fields, and keys for both algorithms',
    discovered,
  ],
];

const plans = { 'Basic OP': basic, 'Config OP': config, 'Form Post OP': formPost, Logout: logout };

describe.each(Object.entries(plans))('%s', (_plan, modules) => {
  test.each(modules)('%s: %s gets %s', async (_name, _request, answer, run) => {
    expect(await run()).toBe(answer);
  });
});

test('docs/conformance.md is the table of these modules', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/conformance.md'), 'utf8');
  const tables = Object.entries(plans).map(
    ([plan, modules]) =>
      `## ${plan}\n\n| module | request | answer |\n|---|---|---|\n${modules
        .map(([name, request, answer]) => `| \`${name}\` | ${request} | ${answer} |`)
        .join('\n')}\n`,
  );
  for (const table of tables) expect(page).toContain(table);
});
