import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { HostSession, HostTicket } from '../../src/database/models/host-session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { sweepExpired } from '../../src/services/instance/upkeep.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import {
  changeClient,
  createClient,
  removeClient,
} from '../../src/services/tenancy/clients/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import { browserAt, enter, fetchTicket, next, verify } from '../support/forward-auth.ts';
import type { Answer, Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { application as relyingParty } from '../support/relying-party.ts';
import { enrolOwn } from '../support/two-factor.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** An application with its own host, and a member who is signed in to idctl. */
async function application(more: { project?: string; role?: 'member' } = {}) {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const origin = `https://app.${domain}`;
  if (more.project) await createProject(idctl.operator(), { org: org.slug, name: more.project });
  const input = { org: org.slug, name: 'App', forwardAuthOrigins: [origin], ...more };
  await createClient(idctl.operator(), createClient.input.parse(input));
  const ada = await person(idctl);
  await addMember(idctl.operator(), { org: org.slug, email: ada.email ?? '', role: 'member' });
  return {
    org: org.slug,
    id: org.id,
    domain,
    origin,
    ada,
    session: await signedIn(idctl, ada.email),
    browser: browserAt(idctl, origin),
  };
}

const statusOf = async (...given: Parameters<typeof verify>) => (await verify(...given)).status;

test('O11 a person reaches the requested page, and the proxy gets the person’s identity in headers', async () => {
  const { browser, session, ada, origin, org } = await application();
  const { slug: project } = await createProject(idctl.operator(), { org, name: fresh('web') });
  const who = { org, project, user: ada.id, role: 'commenter' as const };
  await putProjectMember(idctl.operator(), who);
  const asked = await verify(browser, '/wiki?page=1');
  expect([asked.status, asked.headers['location']]).toEqual([
    401,
    `${origin}/.idctl/start?to=%2Fwiki%3Fpage%3D1`,
  ]);
  const answer = await enter(browser, session, '/wiki?page=1');
  expect([answer.status, answer.headers['location']]).toEqual([302, `${origin}/wiki?page=1`]);
  const cookie = answer.cookies.find(({ name }) => name === '__Host-idctl');
  expect(cookie).toMatchObject({ path: '/', httpOnly: true, sameSite: 'lax', secure: true });
  expect(cookie).not.toHaveProperty('domain');
  const { status, headers } = await verify(browser);
  expect([status, headers]).toMatchObject([
    200,
    {
      'x-idctl-user': ada.id,
      'x-idctl-email': ada.email,
      'x-idctl-name': 'Ada Byron',
      'x-idctl-groups': `member,${project}:commenter`,
      'cache-control': 'no-store',
    },
  ]);
});

test('O11 with ?redirect=1, the answer is 302, for proxies that pass the answer on', async () => {
  const { browser, origin } = await application();
  const { status, headers } = await browser.get('/auth/verify?redirect=1', {
    'x-forwarded-uri': '/x',
  });
  expect([status, headers['location']]).toEqual([302, `${origin}/.idctl/start?to=%2Fx`]);
});

test('O11 an unproved address is not sent to the application', async () => {
  const { browser, session, ada } = await application();
  await enter(browser, session);
  await transaction(() => Account.update({ emailProof: 'auto' }, { where: { id: ada.id } }));
  const { headers } = await verify(browser);
  expect([headers['x-idctl-user'], headers['x-idctl-email']]).toEqual([ada.id, '']);
});

test('O11 a name is sent as UTF-8', async () => {
  const { browser, session } = await application();
  await session.send('PATCH', '/api/v1/me', { body: { name: 'Zoë Łukasz 李' } });
  await enter(browser, session);
  const { headers } = await verify(browser);
  const bytes = Buffer.from(String(headers['x-idctl-name']), 'latin1');
  expect(bytes.toString('utf8')).toBe('Zoë Łukasz 李');
});

test('O11 a person without a session gets the sign-in page first, and then the application', async () => {
  const { browser, ada, origin } = await application();
  const person = idctl.client({ keepCookies: true });
  const away = await browser.get(next(await verify(browser, '/deep')));
  const asked = await open(person, next(away));
  const [, escaped = ''] = /name="returnTo" value="([^"]*)"/.exec(asked.body) ?? [];
  const returnTo = escaped.replaceAll('&amp;', '&');
  const query = new URLSearchParams({ identifier: ada.email ?? '', returnTo });
  const page = await open(person, `/login?${query}`);
  const arrived = await page.submit('/login/password', { password, returnTo });
  // A page, not a redirect: Chromium would apply the form's content security policy to a redirect.
  expect(arrived.status).toBe(200);
  const [, goTo = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(arrived.body) ?? [];
  expect(goTo).toContain(`${origin}/.idctl/ticket?ticket=`);
  const landed = await browser.get(goTo.slice(origin.length));
  expect(landed.headers['location']).toBe(`${origin}/deep`);
  expect(await statusOf(browser)).toBe(200);
});

test('O11 the sign-in page names the host, also in its second step, and does not name the client to strangers', async () => {
  const { browser, ada, origin } = await application();
  const code = await enrolOwn(idctl, ada);
  const away = next(await browser.get(next(await verify(browser))));
  const person = idctl.client({ keepCookies: true });
  const asked = await open(person, away);
  const { host } = new URL(origin);
  const naming = `Sign in to continue to ${host} .`;
  expect(asked.text).toContain(naming);
  expect(asked.body).not.toMatch(/\bApp\b/);
  const [, escaped = ''] = /name="returnTo" value="([^"]*)"/.exec(asked.body) ?? [];
  const returnTo = escaped.replaceAll('&amp;', '&');
  const signInFor = (to: string) =>
    open(person, `/login?${new URLSearchParams({ identifier: ada.email ?? '', returnTo: to })}`);
  const forged = returnTo.replace(host, `else.${host}`);
  expect((await signInFor(forged)).text).not.toContain('continue to');
  const page = await signInFor(returnTo);
  // A sign-in to another application, begun in the same browser, changes nothing.
  const other = await relyingParty(idctl);
  await open(person, (await other.begin()).path);
  const second = await page.submit('/login/password', { password, returnTo });
  expect(second.text).toContain(naming);
  const arrived = await second.submit('/login/code', { totpCode: code() });
  expect(arrived.body).toContain(`${origin}/.idctl/ticket?ticket=`);
});

test('O11 a request that names an unknown host, two hosts or none gets 403', async () => {
  const { browser, session, origin } = await application();
  await enter(browser, session);
  const cookie = `__Host-idctl=${browser.jar.get('__Host-idctl')}`;
  const ask = async (headers: Record<string, string | string[]>) =>
    (await idctl.client().get('/auth/verify', { cookie, ...headers })).status;
  const host = new URL(origin).host;
  const proto = { 'x-forwarded-proto': 'https' };
  expect(await ask({ ...proto, 'x-forwarded-host': host })).toBe(200);
  expect(await ask({ ...proto, 'x-forwarded-host': `other.${host}` })).toBe(403);
  const other = { cookie, ...proto, 'x-forwarded-host': `other.${host}` };
  expect((await idctl.client().get('/auth/verify', other)).body).toMatchObject({
    detail: `No application is registered at https://other.${host}.`,
    hint: expect.stringContaining('An admin can register it.'),
  });
  expect(await ask({ ...proto, 'x-forwarded-host': `${host}, evil.test` })).toBe(403);
  expect(await ask({ ...proto, 'x-forwarded-host': [host, host] })).toBe(403);
  expect(await ask({ 'x-forwarded-proto': 'http', 'x-forwarded-host': host })).toBe(403);
  expect(await ask(proto)).toBe(403);
  expect(await ask({ host, ...proto })).toBe(403);
  expect((await idctl.client().get('/.idctl/start?to=/')).status).toBe(403);
});

test('O11 a stranger and a person without the project role get 403, and an event says why', async () => {
  const project = fresh('web');
  const { browser, session, ada, org, id, origin } = await application({
    project,
    role: 'member',
  });
  const { host } = new URL(origin);
  const away = next(await browser.get(next(await verify(browser))));
  const closed = await session.get(away, { accept: 'text/html' });
  expect([closed.status, closed.body]).toEqual([
    403,
    expect.stringContaining(`cannot open ${host} `),
  ]);
  const where = { organizationId: id, kind: 'client.refused' };
  const last = () => Event.findOne({ where, order: [['id', 'DESC']], rejectOnEmpty: true });
  expect((await last()).data).toMatchObject({ reason: 'project_role_missing', account: ada.id });
  const who = { org, project, user: ada.id };
  await putProjectMember(idctl.operator(), { ...who, role: 'member' });
  await enter(browser, session);
  expect(await statusOf(browser)).toBe(200);
  await putProjectMember(idctl.operator(), { ...who, role: 'viewer' });
  expect(await statusOf(browser)).toBe(403);
  const stranger = await signedIn(idctl, (await person(idctl)).email);
  const barred = await stranger.get(away, { accept: 'text/html' });
  expect([barred.status, barred.body]).toEqual([403, expect.not.stringMatching(/\bApp\b/)]);
  expect((await last()).data).toMatchObject({ reason: 'not_a_member' });
});

test('O11 a ticket is valid once, even if it is used several times at once', async () => {
  const { browser, session } = await application();
  const ticket = await fetchTicket(browser, session);
  const cookie = `__Host-idctl-flow=${browser.jar.get('__Host-idctl-flow')}`;
  const uses = await Promise.all(
    [1, 2, 3, 4].map(() => browser.send('GET', ticket, { headers: { cookie } })),
  );
  expect(uses.map(({ status }) => status).toSorted()).toEqual([302, 403, 403, 403]);
});

test('O11 a ticket is valid for 30 seconds', async () => {
  const { browser, session } = await application();
  const ticket = await fetchTicket(browser, session);
  idctl.wait(31);
  expect((await browser.get(ticket)).status).toBe(403);
  await fetchTicket(browser, session);
  idctl.wait(31);
  await sweepExpired(idctl.as({ kind: 'system', name: 'sweep' }));
  expect(await HostTicket.count()).toBe(0);
});

test('O11 a ticket is invalid once its session has ended', async () => {
  const { browser, session } = await application();
  const ticket = await fetchTicket(browser, session);
  await session.post('/api/v1/auth/logout', {}, { origin: idctl.baseUrl });
  expect((await browser.get(ticket)).status).toBe(403);
});

test('O11 a ticket works only in the browser that started at the host; another browser begins a sign-in of its own', async () => {
  const { browser, session, origin, org } = await application();
  const victim = browserAt(idctl, origin);
  for (const _ of ['without a cookie', 'with a cookie of its own']) {
    const ticket = await fetchTicket(browser, session, '/page');
    const answer = await victim.get(ticket);
    expect([answer.status, answer.headers['location'], answer.cookies]).toEqual([
      302,
      `${origin}/.idctl/start?to=%2Fpage&restarted=1`,
      [],
    ]);
    expect((await victim.get(ticket)).status).toBe(403);
    expect(await statusOf(victim)).toBe(401);
    await victim.get('/.idctl/start?to=/');
  }
  const bob = await person(idctl);
  await addMember(idctl.operator(), { org, email: bob.email ?? '', role: 'member' });
  const own = await signedIn(idctl, bob.email);
  const again = await victim.get(await fetchTicket(browser, session, '/page'));
  expect(await follow(victim, own, again)).toMatchObject({ status: 302, to: `${origin}/page` });
  expect((await verify(victim)).headers['x-idctl-user']).toBe(bob.id);
});

/** Follows the redirects between the host and idctl until the page, or an answer of another kind. */
async function follow(browser: Client, session: Client, answer: Answer) {
  let at = answer;
  for (let hops = 0; at.status >= 302 && at.status <= 303 && hops < 10; hops += 1) {
    const path = next(at);
    if (!/^\/(\.idctl|login|api)\//.test(path))
      return { status: at.status, to: at.headers['location'] };
    at = await (path.startsWith('/.idctl/') ? browser : session).get(path, { accept: 'text/html' });
  }
  return { status: at.status, to: at.headers['location'] };
}

test.each([
  ['first', [0, 1]],
  ['second', [1, 0]],
] as const)(
  'O11 two tabs that began before the browser had a cookie both reach their page; finished first: the %s',
  async (_, order) => {
    const { browser, session, origin } = await application();
    // Neither request has a cookie. The browser keeps the cookie that it received last.
    const bare = browserAt(idctl, origin);
    const starts: Answer[] = [];
    for (const to of ['/one', '/two']) {
      bare.jar.clear();
      starts.push(await bare.get(`/.idctl/start?to=${to}`));
    }
    const flow = bare.jar.get('__Host-idctl-flow') ?? '';
    browser.jar.set('__Host-idctl-flow', flow);
    const landed: unknown[] = [];
    for (const at of order) {
      const start = starts[at];
      if (start === undefined) throw new Error('no such tab');
      landed[at] = await follow(browser, session, start);
      expect(await statusOf(browser)).toBe(200);
    }
    expect(landed).toEqual(['/one', '/two'].map((to) => ({ status: 302, to: origin + to })));
  },
);

test('O11 a second tab that begins later shares the cookie of the first', async () => {
  const { browser, session, origin } = await application();
  const starts = [
    await browser.get('/.idctl/start?to=/one'),
    await browser.get('/.idctl/start?to=/two'),
  ];
  for (const start of starts) {
    const ticket = await session.get(next(start), { accept: 'text/html' });
    const landed = await browser.get(next(ticket));
    expect(landed.cookies.map(({ name }) => name)).toEqual(['__Host-idctl']);
  }
  expect(await follow(browser, session, await browser.get('/.idctl/start?to=/two'))).toMatchObject({
    to: `${origin}/two`,
  });
});

test('O11 a browser that does not keep a cookie begins again once, and is then refused', async () => {
  const { session, origin } = await application();
  const { protocol, host } = new URL(origin);
  const headers = { 'x-forwarded-proto': protocol.slice(0, -1), 'x-forwarded-host': host };
  const forgetful = idctl.client({ headers });
  const landed = await follow(forgetful, session, await forgetful.get('/.idctl/start?to=/page'));
  expect(landed).toEqual({ status: 403, to: undefined });
});

test('O11 only a page starts a sign-in: an image gets 401 and no cookie', async () => {
  const { browser } = await application();
  const asAn = (mode: string) => browser.get('/.idctl/start?to=/', { 'sec-fetch-mode': mode });
  const image = await asAn('no-cors');
  expect([image.status, image.cookies]).toEqual([401, []]);
  expect((await asAn('navigate')).status).toBe(302);
});

test('O11 a ticket and a cookie work only at their host', async () => {
  const one = await application();
  const other = await application();
  // The other application admits the person too, so only the host decides.
  await addMember(idctl.operator(), { org: other.org, email: one.ada.email ?? '', role: 'member' });
  const ticket = await fetchTicket(one.browser, one.session);
  const flow = one.browser.jar.get('__Host-idctl-flow') ?? '';
  other.browser.jar.set('__Host-idctl-flow', flow);
  const refused = await other.browser.get(ticket);
  expect([refused.status, refused.cookies]).toEqual([403, []]);
  await enter(one.browser, one.session);
  const cookie = one.browser.jar.get('__Host-idctl') ?? '';
  other.browser.jar.set('__Host-idctl', cookie);
  expect(await statusOf(other.browser)).toBe(401);
});

test('O11 a cookie that is sent twice is not used', async () => {
  const { browser, session, origin } = await application();
  await enter(browser, session);
  const cookie = `__Host-idctl=${browser.jar.get('__Host-idctl')}`;
  const ask = async (header: string) =>
    (await browserAt(idctl, origin).get('/auth/verify', { cookie: header })).status;
  expect([await ask(cookie), await ask(`${cookie}; ${cookie}`)]).toEqual([200, 401]);
});

test('O11 the API refuses the cookie of a host, and a host refuses a session or token', async () => {
  const { browser, session, ada } = await application();
  await enter(browser, session);
  const cookie = browser.jar.get('__Host-idctl') ?? '';
  const api = async (headers: Record<string, string>) =>
    (await idctl.client().get('/api/v1/me', headers)).status;
  expect(await api({ authorization: `Bearer ${cookie}` })).toBe(401);
  expect(await api({ cookie: `access_token=${cookie}` })).toBe(401);
  const { token } = await createToken(idctl.operator(), { user: ada.id, name: 'ci' });
  browser.jar.clear();
  for (const value of [session.accessToken, token]) {
    browser.jar.set('__Host-idctl', value);
    browser.jar.set('access_token', value);
    const headers = { authorization: `Bearer ${value}` };
    expect((await browser.get('/auth/verify', headers)).status).toBe(401);
  }
  const away = next(await browser.get('/.idctl/start?to=/'));
  const byToken = idctl.client({ headers: { authorization: `Bearer ${token}` } });
  const answer = await byToken.get(away, { accept: 'text/html' });
  expect(String(answer.headers['location'])).not.toContain('/.idctl/ticket');
});

test('O11 the cookie becomes invalid with its session, account, membership, client or origin', async () => {
  const ends: ((at: Awaited<ReturnType<typeof application>>) => Promise<unknown>)[] = [
    ({ session }) => session.post('/api/v1/auth/logout', {}, { origin: idctl.baseUrl }),
    ({ ada }) => disableUser(idctl.operator(), { user: ada.id }),
    ({ ada, org }) => removeMember(idctl.operator(), { org, user: ada.id }),
    ({ org }) => removeClient(idctl.operator(), { org, client: 'App' }),
    ({ org, domain }) =>
      changeClient(
        idctl.operator(),
        changeClient.input.parse({
          org,
          client: 'App',
          forwardAuthOrigins: [`https://else.${domain}`],
        }),
      ),
  ];
  const seen: number[] = [];
  for (const end of ends) {
    const at = await application();
    await enter(at.browser, at.session);
    expect(await statusOf(at.browser)).toBe(200);
    await end(at);
    seen.push(await statusOf(at.browser));
  }
  expect(seen).toEqual([401, 401, 401, 403, 403]);
});

test('O11 signing out of an application ends its cookies and unused tickets, and nothing else', async () => {
  const { browser, session, ada, org, domain, origin } = await application();
  const other = `https://other.${domain}`;
  const input = { org, name: 'Other', forwardAuthOrigins: [other] };
  await createClient(idctl.operator(), createClient.input.parse(input));
  const elsewhere = browserAt(idctl, other);
  const again = await signedIn(idctl, ada.email);
  const second = browserAt(idctl, origin);
  await enter(browser, session);
  await enter(second, again);
  await enter(elsewhere, session);
  const waiting = browserAt(idctl, origin);
  const ticket = await fetchTicket(waiting, session);
  const { items } = (await session.get('/api/v1/me/clients')).body;
  expect(items).toMatchObject([
    { name: 'App', sessions: 2 },
    { name: 'Other', sessions: 1 },
  ]);
  const stranger = await signedIn(idctl, (await person(idctl)).email);
  const at = `/api/v1/me/clients/${items[0].clientId}`;
  expect((await stranger.send('DELETE', at)).status).toBe(404);
  expect(await statusOf(browser)).toBe(200);
  const page = await open(session, '/');
  const after = await page.submit('/account/clients/end');
  expect(after.text).toContain('You are signed out of that application.');
  expect(await Promise.all([browser, second, elsewhere].map((one) => statusOf(one)))).toEqual([
    401, 401, 200,
  ]);
  expect((await waiting.get(ticket)).status).toBe(403);
  expect((await session.get('/api/v1/me/clients')).body.items).toMatchObject([{ name: 'Other' }]);
});

test('O11 a cookie survives a change that keeps its origin, and a second sign-in replaces the first', async () => {
  const { browser, session, org, origin, domain } = await application();
  await enter(browser, session);
  const forwardAuthOrigins = [`https://else.${domain}`, origin];
  const input = changeClient.input.parse({ org, client: 'App', forwardAuthOrigins });
  await changeClient(idctl.operator(), input);
  expect(await statusOf(browser)).toBe(200);
  const again = browserAt(idctl, origin);
  await enter(again, session);
  expect([await statusOf(browser), await statusOf(again)]).toEqual([401, 200]);
  expect(await HostSession.count({ where: { origin } })).toBe(1);
});

test.each([
  '//evil.test/',
  '/\\evil.test',
  'https://evil.test/',
  '/.idctl/start',
  'evil',
  '/..//evil.test',
])('O11 S7 the sign-in does not return to %s', async (uri) => {
  const { browser, session, origin } = await application();
  const answer = await enter(browser, session, uri);
  const { host, pathname } = new URL(String(answer.headers['location']));
  expect([host, pathname.startsWith('//'), pathname.startsWith('/.idctl')]).toEqual([
    new URL(origin).host,
    false,
    false,
  ]);
});

test('O11 S7 the sign-in sends a ticket only to registered origins', async () => {
  const { browser, session } = await application();
  const away = next(await browser.get(next(await verify(browser))));
  const evil = away.replace(/origin=[^&]*/, `origin=${encodeURIComponent('https://evil.test')}`);
  const { status, headers } = await session.get(evil, { accept: 'text/html' });
  expect([status, headers['location']]).toEqual([403, undefined]);
});

test('O11 a link preview (HEAD) does not use up the ticket', async () => {
  const { browser, session } = await application();
  const ticket = await fetchTicket(browser, session);
  expect((await browser.send('HEAD', ticket)).status).not.toBe(302);
  expect((await browser.get(ticket)).status).toBe(302);
});

test('O11 P4 a session that was not used for 14 days does not open an application', async () => {
  const { browser, session } = await application();
  await enter(browser, session);
  idctl.wait(14 * 24 * 3600 + 60);
  expect(await statusOf(browser)).toBe(401);
});
