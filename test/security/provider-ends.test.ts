import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ClientOrigin } from '../../src/database/models/client.ts';
import { Event } from '../../src/database/models/event.ts';
import { ProviderRecord } from '../../src/database/models/provider-record.ts';
import { Session } from '../../src/database/models/session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { settleRestored } from '../../src/services/instance/backup/settle.ts';
import { sweepExpired } from '../../src/services/instance/upkeep.ts';
import { tellClients } from '../../src/services/signin/provider/sign-outs.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import { password, person } from '../support/builders.ts';
import { browserAt, enter, verify } from '../support/forward-auth.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { answering, type Receiver, startReceiver } from '../support/receiver.ts';
import { application, browserOf, walk, walkTo } from '../support/relying-party.ts';

// These tests check when the OpenID provider ends sessions, codes and tokens, and what it limits.

const most = 20;
const slowly = { timeout: 20_000 };
let idctl: Idctl;
let receiver: Receiver;
beforeAll(async () => {
  idctl = await openIdctl({
    limits: { tokenRequests: most },
    outbound: { allow: ['127.0.0.1'] },
  });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await idctl.close();
});

/** Runs the sign-out job, as the daemon does each second. */
function told(): Promise<void> {
  const anew = () => idctl.as({ kind: 'system', name: 'test' });
  return tellClients(anew(), { stop: new AbortController().signal, anew });
}

type Application = Awaited<ReturnType<typeof application>>;

const offline = { scope: 'openid offline_access' };

const refresh = (app: Application, token = '') =>
  idctl.client().form('/api/v1/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: token,
    client_id: app.clientId,
    client_secret: app.secret,
  });

const signInAnew: Record<string, (app: Application, browser: Client) => Promise<unknown>> = {
  'on a page': async (app, browser) => {
    const asked = { prompt: 'login', login_hint: app.email };
    const page = await open(browser, (await app.begin(asked)).path);
    return page.submit('/login/password', { password });
  },
  'on a page that was open for longer than an access token is valid': async (app, browser) => {
    const asked = { prompt: 'login', login_hint: app.email };
    const page = await open(browser, (await app.begin(asked)).path);
    // Browsers send this cookie only to its own path.
    browser.jar.delete('refresh_token');
    idctl.wait(16 * 60);
    await page.submit('/login/password', { password });
    // The sign-out job reads only events of the last 30 seconds, and their ids have the real time.
    idctl.wait(-16 * 60);
  },
  'through the API, as another person': async (_app, browser) => {
    const { email } = await person(idctl);
    return browser.post('/api/v1/auth/login', { email, password }, { origin: idctl.baseUrl });
  },
};

test.each(Object.entries(signInAnew))(
  'O10 a new sign-in %s ends the session that the browser had',
  async (_how, signIn) => {
    const app = await application(idctl);
    const browser = await browserOf(idctl, app.email);
    const tokens = await app.signIn(browser, offline);
    const before = browser.jar.get('access_token') ?? '';
    await signIn(app, browser);
    expect((await browser.get('/api/v1/me')).status).toBe(200);
    const by = { authorization: `Bearer ${before}` };
    expect((await idctl.client().get('/api/v1/me', by)).status).toBe(401);
    expect((await refresh(app, tokens.refresh_token)).body.error).toBe('invalid_grant');
    const events = await Event.findAll({ where: { kind: 'session.ended' } });
    const ended = events.filter(({ subject }) => subject?.id === tokens.claims()?.['sid']);
    expect(ended).toHaveLength(1);
  },
);

test('O10 a session that is not used for 14 days ends, and so do its tokens at applications', async () => {
  const app = await application(idctl, { backchannelLogoutUri: receiver.url });
  const browser = await browserOf(idctl, app.email);
  const tokens = await app.signIn(browser, offline);
  const bearer = { authorization: `Bearer ${tokens.access_token}` };
  const idle = new Date(idctl.app.clock().getTime() - 14 * 24 * 3600 * 1000);
  await transaction(() =>
    Session.update({ lastSeenAt: idle }, { where: { accountId: app.member.id } }),
  );
  expect((await browser.get('/api/v1/me/clients')).body.items).toEqual([]);
  expect((await refresh(app, tokens.refresh_token)).body.error).toBe('invalid_grant');
  expect((await idctl.client().get('/oauth/userinfo', bearer)).status).toBe(401);
  await told();
  expect(receiver.received).toHaveLength(1);
});

test('O10 a refresh counts as a use of the session', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const tokens = await app.signIn(browser, offline);
  const day = 24 * 3600;
  const lastSeenAt = new Date(idctl.app.clock().getTime() - 13 * day * 1000);
  await transaction(() => Session.update({ lastSeenAt }, { where: { accountId: app.member.id } }));
  const first = await refresh(app, tokens.refresh_token);
  expect(first.status).toBe(200);
  idctl.wait(2 * day);
  expect((await refresh(app, first.body.refresh_token)).status).toBe(200);
  idctl.wait(-2 * day);
});

test('O10 a person who signs out of an application ends nothing of another person there', async () => {
  const app = await application(idctl);
  const colleague = await person(idctl);
  const email = colleague.email ?? '';
  await addMember(idctl.operator(), { org: app.org.slug, email, role: 'member' });
  const [own, other] = [await browserOf(idctl, app.email), await browserOf(idctl, email)];
  const [mine, theirs] = [await app.signIn(own, offline), await app.signIn(other, offline)];
  const ended = await own.send('DELETE', `/api/v1/me/clients/${app.clientId}`);
  expect(ended.status).toBeLessThan(300);
  expect((await refresh(app, mine.refresh_token)).body.error).toBe('invalid_grant');
  expect((await refresh(app, theirs.refresh_token)).status).toBe(200);
});

test('O10 a client that does not answer a logout does not delay the others', async () => {
  const slow = await application(idctl, { backchannelLogoutUri: `${receiver.url}/slow` });
  const quick = await application(idctl, { backchannelLogoutUri: receiver.url });
  const waiting: (() => void)[] = [];
  receiver.behave((response, { body }) => {
    const token = decodeJwt(new URLSearchParams(body).get('logout_token') ?? '');
    if (token.aud === slow.clientId) waiting.push(() => response.writeHead(204).end());
    else response.writeHead(204).end();
  });
  const signOut = async (app: Application) => {
    const browser = await browserOf(idctl, app.email);
    await app.signIn(browser);
    await browser.post('/api/v1/auth/logout');
  };
  await signOut(slow);
  await signOut(slow);
  receiver.received.length = 0;
  const turns = [told()];
  await expect.poll(() => waiting.length, slowly).toBe(1);
  await signOut(quick);
  turns.push(told());
  await expect.poll(() => receiver.received.length, slowly).toBe(2);
  // The slow client gets one request at a time.
  expect(waiting).toHaveLength(1);
  waiting[0]?.();
  await expect.poll(() => waiting.length, slowly).toBe(2);
  waiting[1]?.();
  await Promise.all(turns);
  receiver.behave(answering(204));
});

test('O10 if there is no session to end, the logout page keeps the cookies and does not redirect', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const bye = 'https://app.example.test/bye';
  const asked = new URLSearchParams({
    client_id: app.clientId,
    post_logout_redirect_uri: bye,
    again: '1',
  });
  const [access, renewal] = ['access_token', 'refresh_token'].map((name) => browser.jar.get(name));
  browser.jar.delete('access_token');
  const answer = await browser.get(`/oauth/logout?${asked}`, { accept: 'text/html' });
  expect([answer.status, answer.headers['location']]).toEqual([200, undefined]);
  expect(answer.body).toContain(`href="${bye}"`);
  expect(answer.body).not.toContain('You are signed out');
  expect(browser.jar.get('refresh_token')).toBe(renewal);
  expect(answer.cookies.map(({ name }) => name)).toEqual(['form']);
  browser.jar.set('access_token', access ?? '');
  expect((await browser.get('/api/v1/me')).status).toBe(200);
});

test('O10 prompt=none does not show a page, even with response_mode=form_post', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const asked = { prompt: 'none', response_mode: 'form_post' };
  const back = new URL(await walk(browser, (await app.begin(asked)).path));
  expect(Object.fromEntries(back.searchParams)).toMatchObject({
    error: 'invalid_request',
    state: 'state',
    iss: idctl.baseUrl,
  });
  expect(back.searchParams.get('code')).toBeNull();
});

test('O10 the pages of a sign-in may send forms only to idctl and the requested application', async () => {
  const redirectUris = ['https://app.example.test/callback', 'https://second.example.test/'];
  const app = await application(idctl, { redirectUris });
  const page = await open(idctl.client({ keepCookies: true }), (await app.begin()).path);
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toMatch(/; form-action 'self' https:\/\/app\.example\.test$/);
});

test('O10 I3 after an account is deleted, its codes and tokens are deleted too', async () => {
  const app = await application(idctl);
  await app.signIn(await browserOf(idctl, app.email), offline);
  await removeMember(idctl.operator(), { org: app.org.slug, user: app.member.id });
  await deleteUser(idctl.operator(), { user: app.member.id });
  await sweepExpired(idctl.operator(), { stop: new AbortController().signal });
  const where = { clientId: app.row.id };
  expect(await ProviderRecord.count({ where })).toBe(0);
});

test('O10 a restored backup does not send a pending logout to a client', async () => {
  const app = await application(idctl, { backchannelLogoutUri: receiver.url });
  const browser = await browserOf(idctl, app.email);
  await app.signIn(browser);
  const other = await browserOf(idctl, app.email);
  await app.signIn(other);
  await other.send('DELETE', `/api/v1/me/clients/${app.clientId}`);
  receiver.received.length = 0;
  await settleRestored(idctl.operator(), {
    header: {
      version: '1',
      createdAt: new Date().toISOString(),
      database: 'sqlite',
      keyId: idctl.app.keyring.keyId,
      migration: '',
      organizations: 1,
      accounts: 1,
    },
    keepTokens: true,
  });
  await told();
  expect(receiver.received).toEqual([]);
  expect(await ProviderRecord.count()).toBe(0);
});

test('O10 P8 if many wrong secrets arrive at the same moment, those over the limit get 429', async () => {
  const app = await application(idctl);
  const wrong = () => refresh({ ...app, secret: 'cos_secret_wrong' }, 'none');
  const answers = await Promise.all(Array.from({ length: most + 5 }, wrong));
  const said = answers.map(({ status, body }) => `${status} ${body.error}`);
  expect(said.filter((each) => each === '401 invalid_client')).toHaveLength(most);
  expect(said.filter((each) => each === '429 temporarily_unavailable')).toHaveLength(5);
});

test('O10 refresh tokens and the forward-auth cookie stay invalid after a removed member is added again', async () => {
  const app = await application(idctl, { backchannelLogoutUri: null });
  const told = await application(idctl, {
    organizationId: app.org.id,
    name: 'Told',
    backchannelLogoutUri: receiver.url,
  });
  const origin = 'https://app.example.net';
  const row = { origin, clientId: app.row.id, byOperator: true };
  await transaction(() => ClientOrigin.create(row));
  const session = await browserOf(idctl, app.email);
  const [tokens, others] = [
    await app.signIn(session, offline),
    await told.signIn(session, offline),
  ];
  const browser = browserAt(idctl, origin);
  await enter(browser, session);
  expect((await verify(browser)).status).toBe(200);
  const org = app.org.slug;
  await removeMember(idctl.operator(), { org, user: app.member.id });
  await addMember(idctl.operator(), { org, email: app.email, role: 'member' });
  expect((await refresh(app, tokens.refresh_token)).body.error).toBe('invalid_grant');
  expect((await refresh(told, others.refresh_token)).body.error).toBe('invalid_grant');
  expect((await verify(browser)).status).toBe(401);
  // The idctl session stays valid, and can sign in to the application again.
  expect((await app.signIn(session, offline)).refresh_token).toBeTruthy();
});

// This test is last because it moves the clock.
test('O10 X5 requests of one session at one application are rate-limited per minute, and repeated sign-ins share one event', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const answers: number[] = [];
  for (let at = 0; at < 4; at += 1) {
    const { refresh_token: token } = await app.signIn(browser, offline);
    const fields = { token: token ?? '', client_id: app.clientId, client_secret: app.secret };
    answers.push((await idctl.client().form('/api/v1/oauth/revoke', fields)).status);
  }
  expect(answers).toEqual([200, 200, 200, 200]);
  let { refresh_token: token } = await app.signIn(browser, offline);
  const started = { kind: 'client.session.started', organizationId: app.org.id };
  expect(await Event.count({ where: started })).toBe(1);
  for (let at = 0; at < most - 11; at += 1) token = (await refresh(app, token)).body.refresh_token;
  // A sign-in counts as two requests, and is refused before it gives a code.
  const page = await walkTo(browser, (await app.begin()).path);
  expect(page.status).toBe(429);
  expect(page.body).toContain('Try again in 1 minute.');
  ({ refresh_token: token } = (await refresh(app, token)).body);
  const refused = await refresh(app, token);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, expect.any(String)]);
  expect(page.body).toContain('Try again in 1 minute.');
  idctl.wait(60);
  expect((await refresh(app, token)).status).toBe(200);
});
