import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Refusal } from '../../src/errors.ts';
import { surface } from '../../src/http/surface.ts';
import { authority, type Right, type Rule } from '../../src/services/foundation/authority/table.ts';
import { authenticate } from '../../src/services/people/authentication/authenticate.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { importMappings } from '../../src/services/provisioning/mappings/operations.ts';
import { appOf } from '../support/apps.ts';
import { fresh, person, signedIn } from '../support/builders.ts';
import { type Company, foundCompany, pathOf, samples } from '../support/company.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { open } from '../support/pages.ts';
import { comeBack, connected, registration, start } from '../support/sso.ts';
import { enrol, enrolled, enrolOwn } from '../support/two-factor.ts';

type Scope = 'read' | 'write' | 'admin';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const clientOf = (idctl: Idctl, token: string) => idctl.client({ headers: bearer(token) });

/** A client with a token that the operator made for the account. */
async function tokenClient(idctl: Idctl, user: string, scope?: Scope) {
  const { token } = await createToken(idctl.operator(), {
    user,
    name: 'ci',
    ...(scope ? { scope } : {}),
  });
  return clientOf(idctl, token);
}

/** A client with a bot token of an app of the account. */
async function botClient(idctl: Idctl, user: string) {
  return clientOf(idctl, await (await appOf(idctl, { user })).mint());
}

/** Every row of the database. */
async function everything(): Promise<string> {
  const models = Object.values(Account.sequelize?.models ?? {});
  return JSON.stringify(await Promise.all(models.map((model) => model.findAll({ raw: true }))));
}

const org = '/api/v1/orgs/acme';
const own = {
  emailDomain: 'acme.test',
  issuer: 'https://idp.attacker.test',
  clientId: 'c',
  clientSecret: 's',
};
const directory = {
  uri: 'ldaps://ldap.attacker.test',
  bindDn: 'cn=x',
  bindPassword: 's',
  searchBase: 'dc=x',
  searchFilter: '(uid={username})',
  emailAttribute: 'mail',
};
const mapping = { group: 'Everybody', project: 'website', role: 'admin' };

type Act = (client: Client) => ReturnType<Client['send']>;

/** Requests that let others in: the right that each needs, its name, and an attacker's request. */
const admissions: [Right, string, Act][] = [
  ['sso.change', 'a provider of one’s own', (c) => c.send('PUT', `${org}/sso`, { body: own })],
  ['sso.remove', 'no provider', (c) => c.send('DELETE', `${org}/sso`)],
  [
    'ldap.change',
    'a directory of one’s own',
    (c) => c.send('PUT', `${org}/ldap`, { body: directory }),
  ],
  ['ldap.remove', 'no directory', (c) => c.send('DELETE', `${org}/ldap`)],
  [
    'domains.change',
    'another domain',
    (c) => c.post(`${org}/domains`, { domain: 'attacker.test' }),
  ],
  [
    'clients.change',
    'a client of one’s own',
    (c) => c.post(`${org}/clients`, { name: 'Evil', redirectUris: ['https://evil.test/'] }),
  ],
  [
    'clients.change',
    'a redirect URI of one’s own',
    (c) =>
      c.send('PATCH', `${org}/clients/Wiki`, { body: { redirectUris: ['https://evil.test/'] } }),
  ],
  ['clients.change', 'the secret', (c) => c.post(`${org}/clients/Wiki/rotate`)],
  ['domains.change', 'a verified domain', (c) => c.post(`${org}/domains/acme.test/verify`)],
  ['domains.remove', 'no domain', (c) => c.send('DELETE', `${org}/domains/acme.test`)],
  [
    'signin.change',
    'sign-in settings',
    (c) => c.send('PUT', `${org}/signin-settings`, { body: { magicCode: true } }),
  ],
  [
    'members.grantAdmin',
    'an invitation as admin',
    (c) => c.post(`${org}/invitations`, { email: 'evil@acme.test', role: 'admin' }),
  ],
  [
    'members.grantAdmin',
    'another admin',
    (c) => c.post(`${org}/members`, { email: 'sam@acme.test', role: 'admin' }),
  ],
  [
    'members.grantAdmin',
    'a member made admin',
    (c) => c.send('PATCH', `${org}/members/victim@acme.test`, { body: { role: 'admin' } }),
  ],
  ['mappings.grantAdmin', 'a mapping to admin', (c) => c.post(`${org}/group-mappings`, mapping)],
  [
    'projectMembers.grantAdmin',
    'a project admin',
    (c) =>
      c.send('PUT', `${org}/projects/website/members/mia@acme.test`, { body: { role: 'admin' } }),
  ],
];

/** Requests that let others in, and that only an owner may send. */
const ownerAdmissions: typeof admissions = [
  ['scim.rotate', 'a SCIM token', (c) => c.post(`${org}/scim-token`)],
];

const refused = {
  status: 403,
  body: { code: 'scope_required', hint: expect.stringContaining('admin') },
};

describe('P15 admitting others needs a session or a token of scope admin', () => {
  let idctl: Idctl;
  let company: Company;
  beforeAll(async () => {
    idctl = await openIdctl({
      doh: { resolverUrl: 'http://127.0.0.1:1' },
      orgs: { creation: 'anyone' },
    });
    company = await foundCompany(idctl);
  });
  afterAll(() => idctl.close());

  test('P15 a stolen token of scope write does not admit a person, even an owner’s', async () => {
    const { admin, owner } = company;
    const [pat, bot] = [await tokenClient(idctl, admin.id), await botClient(idctl, admin.id)];
    const [owners, ownersBot] = [
      await tokenClient(idctl, owner.id),
      await botClient(idctl, owner.id),
    ];
    const before = await everything();
    for (const [, what, act] of admissions)
      for (const client of [pat, bot, owners, ownersBot])
        expect([what, await act(client)]).toMatchObject([what, refused]);
    for (const [, what, act] of ownerAdmissions)
      for (const client of [owners, ownersBot])
        expect([what, await act(client)]).toMatchObject([what, refused]);
    expect(await everything()).toBe(before);
  });

  test('P15 a project admin’s token makes no other project admin', async () => {
    const client = await tokenClient(idctl, company.projectAdmin.id);
    const path = `${org}/projects/website/members/mia@acme.test`;
    expect(await client.send('PUT', path, { body: { role: 'admin' } })).toMatchObject(refused);
    expect((await client.send('PUT', path, { body: { role: 'member' } })).status).toBe(200);
  });

  test('P15 a token of scope write cannot import a mapping to the admin role', async () => {
    const { token } = await createToken(idctl.operator(), { user: company.admin.id, name: 'ci' });
    const actor = await authenticate(idctl.operator(), token);
    const mappings = [{ group: 'Staff', project: 'website', role: 'viewer' as const }];
    const ctx = idctl.as(actor);
    const run = (more: Parameters<typeof importMappings>[1]['mappings']) =>
      importMappings(ctx, { org: 'acme', mappings: [...mappings, ...more], replace: false });
    expect(await run([{ group: 'All', project: 'website', role: 'member' }])).toMatchObject({
      kept: 1,
    });
    const admins = run([{ group: 'All', project: 'website', role: 'admin' }]);
    await expect(admins).rejects.toMatchObject({ code: 'scope_required' });
  });

  test('P15 a token of scope write cannot change a mapping to the admin role', async () => {
    const pat = await tokenClient(idctl, company.admin.id);
    const set = (body: object) =>
      pat.send('PUT', `${org}/group-mappings/${company.mapping}`, { body });
    expect(await set({ project: 'website', role: 'admin' })).toMatchObject(refused);
    expect(await set({ orgRole: 'admin' })).toMatchObject(refused);
    expect((await set({ project: 'website', role: 'member' })).status).toBe(200);
  });

  test('P15 a token of scope write can still change projects, invitations, mappings and roles, if it does not grant an admin role', async () => {
    const pat = await tokenClient(idctl, company.admin.id);
    const done = [
      await pat.post(`${org}/projects`, { name: 'Built' }),
      await pat.post(`${org}/invitations`, { email: 'guest@acme.test', role: 'member' }),
      await pat.post(`${org}/group-mappings`, { ...mapping, role: 'member' }),
      await pat.send('PATCH', `${org}/members/victim@acme.test`, { body: { role: 'member' } }),
      await pat.send('PUT', `${org}/projects/website/members/mia@acme.test`, {
        body: { role: 'member' },
      }),
      await pat.send('PATCH', '/api/v1/me', { body: { name: 'Adam' } }),
    ];
    expect(done.map(({ status }) => status)).toEqual([201, 201, 201, 200, 200, 200]);
  });

  test('P15 a session or a token of scope admin is enough', async () => {
    const admin = await tokenClient(idctl, company.admin.id, 'admin');
    const owner = await tokenClient(idctl, company.owner.id, 'admin');
    for (const [, what, act] of admissions)
      for (const client of [admin, company.admin]) {
        const { status, body } = await act(client);
        expect([what, status === 403 ? body.code : 'let']).toEqual([what, 'let']);
      }
    for (const [, what, act] of ownerAdmissions)
      for (const client of [owner, company.owner])
        expect([what, (await act(client)).status]).toEqual([what, 201]);
  });

  test('P15 owners see the tokens of scope admin of their members, without values', async () => {
    const { admin, owner, foreigner } = company;
    const mine = { user: admin.id, name: 'deploy', scope: 'admin' as const };
    const { id, token } = await createToken(idctl.operator(), mine);
    await createToken(idctl.operator(), { ...mine, user: foreigner.id });
    await createToken(idctl.operator(), { ...mine, name: 'small', scope: 'write' });
    const { status, body } = await owner.get(`${org}/tokens?limit=200`);
    expect(status).toBe(200);
    const listed = body.items.find((item: { id: string }) => item.id === id);
    const user = { id: admin.id, email: admin.email, name: expect.any(String) };
    expect(listed).toMatchObject({ name: 'deploy', scope: 'admin', kind: 'pat', user });
    expect(JSON.stringify(body)).not.toContain(token.slice(12));
    const ids = new Set(body.items.map((item: typeof listed) => item.user.id));
    expect([
      ids.has(foreigner.id),
      body.items.every((item: typeof listed) => item.scope === 'admin'),
    ]).toEqual([false, true]);
    expect((await admin.get(`${org}/tokens`)).body.code).toBe('forbidden');
    expect((await foreigner.get(`${org}/tokens`)).body.code).toBe('not_found');
  });

  test('P15 O3 only owners can make a SCIM token; admins can revoke it', async () => {
    expect((await company.owner.post(`${org}/scim-token`)).status).toBe(201);
    expect(await company.admin.post(`${org}/scim-token`)).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect((await company.admin.send('DELETE', `${org}/scim-token`)).status).toBe(204);
  });

  test('P15 these tests cover every row of the authority table that admits others, and no other row', () => {
    const rows = Object.entries<Rule>(authority)
      .filter(([, { effect, session }]) => effect === 'letsIn' && session !== 'always')
      .map(([row]) => row);
    const asked = new Set<string>([...admissions, ...ownerAdmissions].map(([row]) => row));
    // Only a setup link creates the first SCIM token so; a token replaces it by `scim.rotate`.
    expect([...asked, 'scim.create'].sort()).toEqual(rows.sort());
  });
});

describe('P15 scope read', () => {
  test('P15 a token of scope read changes nothing, on any route', async () => {
    const idctl = await openIdctl({
      orgs: { creation: 'anyone' },
      tokens: { manageCredentials: 'on' },
    });
    try {
      const company = await foundCompany(idctl);
      const reader = await tokenClient(idctl, company.owner.id, 'read');
      const before = await everything();
      const routes = surface.routes.filter(({ access }) => access !== 'public');
      const answers: [string, unknown][] = [];
      for (const route of routes) {
        const { query, body } = samples[`${route.method} ${route.path}`] ?? {};
        const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
        const path = pathOf(route, company, company.owner) + search;
        const { status, body: said } = await reader.send(route.method, path, { body });
        answers.push([`${route.method} ${route.path}`, status < 400 ? 'ok' : said.code]);
      }
      expect(await everything()).toBe(before);
      const allowed = answers.filter(
        ([, code]) => code !== 'scope_required' && code !== 'session_required',
      );
      const looks = allowed.map(([route]) => route).filter((route) => !route.startsWith('GET '));
      expect(looks).toEqual([
        'POST /api/v1/orgs/:org/group-mappings/preview',
        'POST /api/v1/orgs/:org/plan',
      ]);
      const guarded = answers.filter(
        ([route, code]) => !route.startsWith('GET') && code === 'session_required',
      );
      expect(guarded.map(([route]) => route).sort()).toEqual([
        'DELETE /api/v1/me',
        'DELETE /api/v1/orgs/:org',
        'POST /api/v1/invitations/accept',
        'POST /api/v1/me/email',
        'POST /api/v1/me/email/confirm',
        'POST /api/v1/orgs/:org/ldap/approve',
        'POST /api/v1/orgs/:org/ldap/relink',
        'POST /api/v1/orgs/:org/members/:user/second-factor/reset',
        'POST /api/v1/orgs/:org/setup-links',
        'POST /api/v1/orgs/:org/sso/approve',
        'POST /api/v1/orgs/:org/sso/relink',
      ]);
      expect(answers.find(([route]) => route === 'GET /api/v1/orgs/:org/tokens')).toEqual([
        'GET /api/v1/orgs/:org/tokens',
        'ok',
      ]);
    } finally {
      await idctl.close();
    }
  });
});

describe('P15 making a token of scope admin', () => {
  let idctl: Idctl;
  let provider: OpenIdProvider;
  beforeAll(async () => {
    idctl = await openIdctl({
      outbound: { allow: ['127.0.0.1'] },
      tokens: { manageCredentials: 'on' },
    });
    const redirect = `${idctl.baseUrl}/auth/sso/callback`;
    const { clientId: client_id, clientSecret: client_secret } = registration;
    provider = await startOpenIdProvider({
      clients: [{ client_id, client_secret, redirect_uris: [redirect] }],
    });
  });
  afterAll(async () => {
    await provider.stop();
    await idctl.close();
  });

  const ask = (client: Client, more = {}) =>
    client.post('/api/v1/me/tokens', { name: 'deploy', scope: 'admin', ...more });
  const sessionNeeded = { status: 403, body: { code: 'session_required' } };
  const dayMs = 86_400_000;
  const days = ({ createdAt, expiresAt }: Record<string, string>) =>
    (Date.parse(expiresAt ?? '') - Date.parse(createdAt ?? '')) / dayMs;

  /** A person with a second factor, and a client that signed in with it. */
  async function proved() {
    const account = await person(idctl);
    const earlier = await signedIn(idctl, account.email);
    const code = await enrolOwn(idctl, account);
    const client = await signedIn(idctl, account.email, { totpCode: code() });
    return { account, code, client, earlier };
  }

  test('P15 works in a session that passed the account’s own second factor, for at most 90 days', async () => {
    const { client } = await proved();
    const made = await ask(client);
    expect(made).toMatchObject({ status: 201, body: { scope: 'admin' } });
    expect(days(made.body)).toBe(90);
    const short = await ask(client, { expiresInDays: 7 });
    expect(days(short.body)).toBe(7);
    expect(await ask(client, { expiresInDays: 91 })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', errors: [{ path: 'expiresInDays' }] },
    });
    await client.post('/api/v1/auth/refresh');
    expect((await ask(client)).status).toBe(201);
    const listed = (await client.get('/api/v1/me/tokens')).body.items;
    expect(listed.map(({ scope }: { scope: string }) => scope)).toEqual([
      'admin',
      'admin',
      'admin',
    ]);
  });

  test('P15 fails for an account without a second factor; the refusal says to enable one', async () => {
    const { email } = await person(idctl);
    const answer = await ask(await signedIn(idctl, email));
    expect(answer).toMatchObject(sessionNeeded);
    expect(answer.body.hint).toMatch(/passkey or enable two-factor authentication/);
  });

  test('P15 fails in a session that began without the second factor, or with an earlier authenticator', async () => {
    const { account, client, earlier, code } = await proved();
    const answer = await ask(earlier);
    expect(answer).toMatchObject(sessionNeeded);
    expect(answer.body.hint).toMatch(/Sign in again/);
    expect((await ask(client)).status).toBe(201);
    idctl.wait(60);
    const other = await signedIn(idctl, account.email, { totpCode: code() });
    idctl.wait(60);
    expect((await other.post('/api/v1/me/totp/disable', { code: code() })).status).toBe(204);
    expect(await ask(client)).toMatchObject(sessionNeeded);
    // This session used a code of the first authenticator, which says nothing about the second.
    const third = await signedIn(idctl, account.email);
    await enrol(idctl, third);
    expect(await ask(other)).toMatchObject(sessionNeeded);
    expect(await other.post('/api/v1/me/recovery-codes')).toMatchObject({
      status: 403,
      body: { code: 'recent_sign_in_required' },
    });
    // The session that enrolled the second one has passed it (security P17).
    expect((await ask(third)).status).toBe(201);
  });

  test('P15 fails in a provider’s session, whose second factor does not count, unless idctl asked for its own', async () => {
    const arrive = async (requireLocalTwoFactor: boolean) => {
      const { domain } = await connected(idctl, provider.issuer, { requireLocalTwoFactor });
      const email = `${fresh('ada')}@${domain}`;
      const { code } = await enrolled(idctl, email);
      provider.people.set(email, { email, email_verified: true, name: 'Ada' });
      const client = idctl.client({ keepCookies: true });
      const answer = await comeBack(
        client,
        await provider.signIn(await start(client, domain), email),
      );
      return { client, answer, code };
    };
    const trusting = await arrive(false);
    expect(trusting.answer.status).toBe(200);
    expect(await ask(trusting.client)).toMatchObject(sessionNeeded);
    const { client, code } = await arrive(true);
    const totpCode = code();
    expect((await client.post('/api/v1/auth/second-factor', { totpCode })).status).toBe(200);
    expect((await ask(client)).status).toBe(201);
  });

  test('P15 fails with a token, even if `tokens.manageCredentials` is on; a token cannot regenerate a token either', async () => {
    const { account, client } = await proved();
    const admin = await tokenClient(idctl, account.id, 'admin');
    const write = await tokenClient(idctl, account.id);
    const { id } = (await ask(client)).body;
    for (const token of [admin, write, await botClient(idctl, account.id)]) {
      expect(await ask(token)).toMatchObject(sessionNeeded);
      expect(await token.post(`/api/v1/me/tokens/${id}/regenerate`)).toMatchObject(sessionNeeded);
    }
    expect((await write.post('/api/v1/me/tokens', { name: 'other' })).body.scope).toBe('write');
  });

  test('P15 regenerating a token of scope admin needs the second factor too, and keeps the expiry', async () => {
    const { client, earlier } = await proved();
    const { id, expiresAt, token } = (await ask(client, { expiresInDays: 7 })).body;
    expect(await earlier.post(`/api/v1/me/tokens/${id}/regenerate`)).toMatchObject(sessionNeeded);
    idctl.wait(60);
    const renewed = await client.post(`/api/v1/me/tokens/${id}/regenerate`);
    expect(renewed).toMatchObject({ status: 200, body: { scope: 'admin', expiresAt } });
    expect((await clientOf(idctl, token).get('/api/v1/me')).status).toBe(401);
  });

  test('P15 works on the account page too, which shows the scope of each token', async () => {
    const { client, earlier } = await proved();
    const create = async (of: Client, scope: string) =>
      (await open(of, '/')).submit('/account/tokens', { name: `for ${scope}`, scope });
    expect((await create(client, 'read')).text).toContain('Your new token');
    expect((await create(client, 'admin')).text).toContain('Your new token');
    const { text } = await open(client, '/');
    for (const scope of ['read', 'admin'])
      expect(text).toMatch(new RegExp(`for ${scope} .*scope ${scope}`));
    const refused = await create(earlier, 'admin');
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('Sign in again in a way that asks for your second factor.');
  });

  test('P15 works for the operator, for at most 90 days too', async () => {
    const { id: user } = await person(idctl);
    const made = await createToken(idctl.operator(), { user, name: 'ci', scope: 'admin' });
    expect(made.scope).toBe('admin');
    const late = createToken(idctl.operator(), {
      user,
      name: 'ci',
      scope: 'admin',
      expiresInDays: 91,
    });
    await expect(late).rejects.toBeInstanceOf(Refusal);
  });
});
