import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Session } from '../../../src/database/models/session.ts';
import { transaction } from '../../../src/database/transaction.ts';
import { tellClients } from '../../../src/services/signin/provider/sign-outs.ts';
import { password } from '../../support/builders.ts';
import type { Answer, Client } from '../../support/http.ts';
import { type Idctl, openIdctl } from '../../support/idctl.ts';
import { open } from '../../support/pages.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { application, browserOf, walkTo } from '../../support/relying-party.ts';

// The modules of the OpenID Foundation's certification plans, run against idctl by their names. The
// page docs/evidence/conformance.md is the table of these tests: module, request and answer.

let idctl: Idctl;
let receiver: Receiver;
let app: Awaited<ReturnType<typeof application>>;
let browser: Client;
/** The application as most modules run it: with its secret in the header (client_secret_basic). */
let basicAuth: openid.Configuration;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] }, limits: { enabled: 'off' } });
  receiver = await startReceiver();
  app = await application(idctl, { backchannelLogoutUri: receiver.url });
  browser = await browserOf(idctl, app.email);
  basicAuth = new openid.Configuration(
    app.config.serverMetadata(),
    app.clientId,
    { id_token_signed_response_alg: 'RS256' },
    openid.ClientSecretBasic(app.secret),
  );
  openid.allowInsecureRequests(basicAuth);
  openid.enableNonRepudiationChecks(basicAuth);
});
afterAll(async () => {
  await receiver.stop();
  await idctl.close();
});

type Params = Record<string, string>;
/** A module of a plan. `mode` has the parameters that the plan adds to each request. */
type Module = [
  name: string,
  request: string,
  answer: string,
  run: (mode: Params) => Promise<string>,
];

const callback = 'https://app.example.test/callback';

/** Sends an authorization request from the signed-in browser; says what comes back. */
const asking = (params: Params, from?: () => Client) => async (mode: Params) =>
  outcomeOf(await walkTo(from?.() ?? browser, (await app.begin({ ...params, ...mode })).path));

type Came = Pick<Answer, 'headers' | 'body'>;

function outcomeOf({ headers: { location }, body }: Came): string {
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

/** The answer as the application gets it: in the address, or in the form that the person sends. */
function receivedBy({ headers: { location }, body }: Came, mode: Params): URL | Request {
  if (mode['response_mode'] !== 'form_post') return new URL(String(location));
  const fields = String(body).matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g);
  const sent = [...fields].map(([, name = '', value = '']): [string, string] => [name, value]);
  return new Request(callback, { method: 'POST', body: new URLSearchParams(sent) });
}

/** Runs a whole code flow with openid-client, which checks the ID token. */
async function signIn(params: Params, mode: Params, config = basicAuth) {
  const { path, checks } = await app.begin({ ...params, ...mode });
  const answer = receivedBy(await walkTo(browser, path), mode);
  return openid.authorizationCodeGrant(config, answer, checks);
}

/** Runs a whole code flow; names some claims of the ID token. */
const flow =
  (params: Params, ...names: string[]) =>
  async (mode: Params) =>
    said(await signIn(params, mode), names);

function said(tokens: Awaited<ReturnType<typeof signIn>>, names: string[]): string {
  const claims: Record<string, unknown> = tokens.claims() ?? {};
  expect(claims).toMatchObject({ sub: app.member.id, acr: 'urn:idctl:1' });
  return ['an ID token', ...names.filter((name) => claims[name] !== undefined)].join(', ');
}

const scope = (words: string) => ({ scope: `openid ${words}`.trim() });
const stranger = () => idctl.client({ keepCookies: true });

/** Asks for scopes; userinfo must have the same claims as the ID token. */
const scoped =
  (words: string, ...names: string[]) =>
  async (mode: Params) => {
    const tokens = await signIn(scope(words), mode);
    const info = await openid.fetchUserInfo(basicAuth, tokens.access_token, app.member.id);
    for (const name of names) expect(info[name]).toEqual(tokens.claims()?.[name]);
    return said(tokens, names);
  };

const withoutParameter = (name: string) => async (mode: Params) => {
  const { path } = await app.begin(mode);
  const url = new URL(path, idctl.baseUrl);
  url.searchParams.delete(name);
  return outcomeOf(await walkTo(browser, url.pathname + url.search));
};

const redeemedTwice = (seconds: number) => async (mode: Params) => {
  const { path, checks } = await app.begin(mode);
  const answer = await walkTo(browser, path);
  const redeem = () => openid.authorizationCodeGrant(basicAuth, receivedBy(answer, mode), checks);
  const first = await redeem();
  idctl.wait(seconds);
  const again = await redeem().then(
    () => 'tokens',
    (error: openid.ResponseBodyError) => error.error,
  );
  const info = await userinfo('get', first.access_token);
  return `${again}; the first access token: ${info}`;
};

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

const info = (form: 'get' | 'header' | 'body') => async (mode: Params) =>
  userinfo(form, (await signIn({}, mode)).access_token);

/** Moves the sign-in back by a minute, sends a request, and signs in again on the page that comes. */
const signingInAgain = (params: Params) => async (mode: Params) => {
  const before = (await signIn({}, mode)).claims()?.['auth_time'];
  const where = { accountId: app.member.id };
  for (const session of await Session.findAll({ where })) {
    const createdAt = new Date(session.createdAt.getTime() - 60_000);
    await transaction(() => session.update({ createdAt }));
  }
  const asked = { ...params, ...mode, login_hint: app.email };
  const { path, checks } = await app.begin(asked);
  const page = await open(browser, path);
  const shown = outcomeOf(page);
  const done = await page.submit('/login/password', { password });
  const tokens = await openid.authorizationCodeGrant(basicAuth, receivedBy(done, mode), checks);
  const after = tokens.claims()?.['auth_time'];
  return `${shown}, then ${Number(after) > Number(before) - 60 ? 'a later' : 'the same'} auth_time`;
};

async function posted(mode: Params): Promise<string> {
  const { url } = await app.begin(mode);
  const answer = await browser.form('/oauth/authorize', Object.fromEntries(url.searchParams));
  return outcomeOf(await walkTo(browser, String(answer.headers['location'])));
}

async function hinted(mode: Params): Promise<string> {
  const hint = (await app.signIn(browser)).id_token ?? '';
  return asking({ prompt: 'none', id_token_hint: hint })(mode);
}

async function refreshed(mode: Params): Promise<string> {
  const tokens = await signIn(scope('offline_access'), mode);
  const next = await openid.refreshTokenGrant(basicAuth, tokens.refresh_token ?? '');
  return next.claims()?.sub === app.member.id ? 'new tokens of the same person' : 'other tokens';
}

async function unsigned(): Promise<string> {
  const { body } = await idctl.client().get('/.well-known/openid-configuration');
  const offered = body.id_token_signing_alg_values_supported;
  return offered.includes('none') ? 'offered' : 'not offered';
}

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const requestObject = (claims: object) => `${base64({ alg: 'none' })}.${base64(claims)}.`;
const elsewhere = 'https://app.example.test/other';

const basic: Module[] = [
  ['oidcc-server', 'A code flow', 'an ID token', flow({})],
  [
    'oidcc-response-type-missing',
    'No response_type',
    'invalid_request',
    withoutParameter('response_type'),
  ],
  ['oidcc-idtoken-signature', 'An ID token, checked by its key', 'an ID token', flow({})],
  ['oidcc-idtoken-unsigned', 'An unsigned ID token', 'not offered', unsigned],
  ['oidcc-userinfo-get', 'Userinfo by GET', 'the claims', info('get')],
  ['oidcc-userinfo-post-header', 'Userinfo by POST', 'the claims', info('header')],
  ['oidcc-userinfo-post-body', 'Userinfo, token in the body', 'the claims', info('body')],
  [
    'oidcc-ensure-request-without-nonce-succeeds-for-code-flow',
    'No nonce',
    'a code',
    withoutParameter('nonce'),
  ],
  ['oidcc-scope-profile', 'Scope profile', 'an ID token, name', scoped('profile', 'name')],
  ['oidcc-scope-email', 'Scope email', 'an ID token, email', scoped('email', 'email')],
  ['oidcc-scope-address', 'Scope address', 'an ID token', scoped('address', 'address')],
  ['oidcc-scope-phone', 'Scope phone', 'an ID token', scoped('phone', 'phone_number')],
  [
    'oidcc-scope-all',
    'All scopes',
    'an ID token, name, email',
    scoped('profile email address phone', 'name', 'email'),
  ],
  [
    'oidcc-ensure-other-scope-order-succeeds',
    'Scope "email openid"',
    'an ID token, email',
    flow({ scope: 'email openid' }, 'email'),
  ],
  ['oidcc-display-page', 'display=page', 'a code', asking({ display: 'page' })],
  ['oidcc-display-popup', 'display=popup', 'a code', asking({ display: 'popup' })],
  [
    'oidcc-prompt-login',
    'prompt=login',
    'the sign-in page, then a later auth_time',
    signingInAgain({ prompt: 'login' }),
  ],
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
    'the sign-in page, then a later auth_time',
    signingInAgain({ max_age: '1' }),
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
    redeemedTwice(0),
  ],
  [
    'oidcc-codereuse-30seconds',
    'A code again after 30 seconds',
    'invalid_grant; the first access token: 401',
    redeemedTwice(30),
  ],
  [
    'oidcc-ensure-registered-redirect-uri',
    'A redirect URI that is not registered',
    'an error page',
    asking({ redirect_uri: elsewhere }),
  ],
  ['oidcc-ensure-post-request-succeeds', 'The request by POST', 'a code', posted],
  [
    'oidcc-server-client-secret-post',
    'The secret in the form',
    'an ID token',
    async (mode) => said(await signIn({}, mode, app.config), []),
  ],
  [
    'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
    'The address of a request object',
    'request_uri_not_supported',
    asking({ request_uri: 'https://app.example.test/request' }),
  ],
  [
    'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
    'A request object',
    'request_not_supported',
    asking({ request: requestObject({}) }),
  ],
  [
    'oidcc-claims-essential',
    'The parameter claims',
    'a code',
    asking({ claims: '{"userinfo":{"name":{"essential":true}}}' }),
  ],
  [
    'oidcc-ensure-request-object-with-redirect-uri',
    'A redirect URI that only a request object has',
    'an error page',
    asking({ redirect_uri: elsewhere, request: requestObject({ redirect_uri: callback }) }),
  ],
  ['oidcc-refresh-token', 'A refresh token', 'new tokens of the same person', refreshed],
  ['oidcc-ensure-request-with-valid-pkce-succeeds', 'PKCE with S256', 'an ID token', flow({})],
];

// The plan for form_post has all modules of the plan for basic, with `response_mode=form_post`.
const posts = { response_mode: 'form_post' };
const silent = [
  'oidcc-prompt-none-not-logged-in',
  'oidcc-prompt-none-logged-in',
  'oidcc-id-token-hint',
];
const formPost: Module[] = basic.map(([name, request, answer, run]) => {
  const isDirect = answer === 'a code' || /^[a-z]+(_[a-z]+)+$/.test(answer);
  const inForm = isDirect ? `a form with ${answer}` : answer;
  return [name, request, silent.includes(name) ? 'invalid_request' : inForm, () => run(posts)];
});

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
    expect(await run({})).toBe(answer);
  });
});

test('docs/evidence/conformance.md is the table of these modules', () => {
  const page = readFileSync(
    join(import.meta.dirname, '../../../docs/evidence/conformance.md'),
    'utf8',
  );
  const tables = Object.entries(plans).map(
    ([plan, modules]) =>
      `## ${plan}\n\n| module | request | answer |\n|---|---|---|\n${modules
        .map(([name, request, answer]) => `| \`${name}\` | ${request} | ${answer} |`)
        .join('\n')}\n`,
  );
  for (const table of tables) expect(page).toContain(table);
});
