import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { SsoAttempt } from '../../src/database/models/sso-attempt.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';

import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { disableSso, removeSso } from '../../src/services/tenancy/sso/operations.ts';
import { fresh, organization, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { comeBack, connected, registration, signInAt, start } from '../support/sso.ts';
import { sweepNow } from '../support/sweep.ts';

let provider: OpenIdProvider;
let liar: LyingProvider;
let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  provider = await startOpenIdProvider({
    clients: [
      {
        client_id: registration.clientId,
        client_secret: registration.clientSecret,
        redirect_uris: [`${idctl.baseUrl}/auth/sso/callback`],
      },
    ],
  });
  liar = await startLyingProvider(registration.clientId, '');
});
afterAll(async () => {
  await provider.stop();
  await liar.stop();
  await idctl.close();
});

/** Creates a connected organization; `attempts` reads its attempts as its owner. */
async function watched(issuer = provider.issuer, more: Record<string, unknown> = {}) {
  const { org, domain } = await connected(idctl, issuer, more);
  const owner = await signedIn(idctl, org.owner.email);
  const attempts = async () =>
    (await owner.get(`/api/v1/orgs/${org.slug}/sso/attempts`)).body.items;
  return { org, domain, owner, attempts };
}

/** Signs in a new person with these claims. By default, the address is on the domain. */
async function arrive(domain: string, claims: Record<string, unknown> = {}) {
  const sub = fresh('sub');
  provider.people.set(sub, {
    email: `${sub}@${domain}`,
    email_verified: true,
    name: 'Grace',
    ...claims,
  });
  return { sub, email: `${sub}@${domain}`, ...(await signInAt(idctl, provider, domain, sub)) };
}

/** Returns to the callback from the lying provider, by default with a code. */
async function comeBackFromLiar(domain: string, more = '&code=the-canary-code') {
  const client = idctl.client({ keepCookies: true });
  const state = new URL(await start(client, domain)).searchParams.get('state');
  const callback = `http://idctl/auth/sso/callback?state=${state}${more}`;
  return { client, callback, answer: await comeBack(client, callback) };
}

describe('a sign-in attempt', () => {
  test('X5 the page tells a refused person what to do, and its reference finds the attempt and the event', async () => {
    const { domain, org, owner, attempts } = await watched();
    await arrive(domain);
    const sub = fresh('mallory');
    provider.people.set(sub, { email: `${sub}@elsewhere.test`, email_verified: true });
    const client = idctl.client({ keepCookies: true });
    const callback = await provider.signIn(await start(client, domain), sub);
    const answer = await comeBack(client, callback, { accept: 'text/html' });
    const text = String(answer.body)
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ');
    expect([answer.status, text]).toEqual([
      401,
      expect.stringContaining(
        'You could not be signed in. Try again. If it happens again, give your administrator the reference. Reference:',
      ),
    ]);
    const [, reference = ''] = /Reference: ([\w-]{36}) /.exec(text) ?? [];
    const found = await owner.get(`/api/v1/orgs/${org.slug}/sso/attempts?reference=${reference}`);
    expect(found.body.items).toMatchObject([{ ok: false, reference }]);
    expect(await attempts()).toHaveLength(2);
    const events = await owner.get(`/api/v1/orgs/${org.slug}/events?kind=sso.signin.refused`);
    expect(events.body.items).toMatchObject([{ data: { references: [reference] } }]);
  });

  test('X5 the event of a refused code has the provider’s reason', async () => {
    const { domain, org, owner } = await watched();
    const client = idctl.client({ keepCookies: true });
    const state = new URL(await start(client, domain)).searchParams.get('state') ?? '';
    const back = new URLSearchParams({ state, code: fresh('wrong'), iss: provider.issuer });
    expect((await comeBack(client, `http://idctl/auth/sso/callback?${back}`)).status).toBe(401);
    const events = await owner.get(`/api/v1/orgs/${org.slug}/events?kind=sso.signin.refused`);
    expect(events.body.items).toMatchObject([{ data: { reason: 'invalid_grant' } }]);
  });

  test('a successful attempt has its stage, the address, the groups as received, and no other claims', async () => {
    const { domain, org, attempts } = await watched();
    const { email, answer } = await arrive(domain, {
      groups: ['Staff', 'staff', 'a,b'],
      name: 'a canary',
    });
    expect(answer.status).toBe(200);
    const connection = await SsoConnection.findOne({
      where: { organizationId: org.id },
      rejectOnEmpty: true,
    });
    expect(await attempts()).toEqual([
      {
        id: expect.any(String),
        at: expect.stringMatching(/Z$/),
        connection: connection.id,
        stage: 'session',
        ok: true,
        email,
        groups: ['Staff', 'staff', 'a,b'],
        reference: answer.headers['x-request-id'],
      },
    ]);
    const rows = await SsoAttempt.findAll({ where: { connectionId: connection.id }, raw: true });
    expect(JSON.stringify(rows)).not.toContain('canary');
  });

  test.each([
    ['a string', 'Staff', ['Staff']],
    ['an empty string', '', []],
    ['an empty list', [], []],
    ['a list with a wrong element', ['a', 7], null],
    ['an object', { a: 1 }, null],
    ['a thousand groups', Array(1000).fill('x'), Array(1000).fill('x')],
    ['more than a thousand groups', Array(1001).fill('x'), null],
    ['a group of 256 characters', ['é'.repeat(256)], ['é'.repeat(256)]],
    ['a group of 257 characters', ['x'.repeat(257)], null],
    ['characters that databases often reject', ['a\u0000b\ud800"\'\\'], ['a\u0000b\ud800"\'\\']],
  ])(
    'I7 group names are stored unchanged, and an unreadable claim as null: %s',
    async (_, groups, kept) => {
      const { domain, attempts } = await watched();
      await arrive(domain, { groups });
      expect((await attempts())[0]).toMatchObject({ ok: true, groups: kept });
    },
  );

  test('without a groups claim, an attempt has no groups; the setting groupsClaim names the claim', async () => {
    const plain = await watched();
    await arrive(plain.domain);
    expect((await plain.attempts())[0]).not.toHaveProperty('groups');
    const named = await watched(provider.issuer, { groupsClaim: 'name' });
    await arrive(named.domain, { groups: ['x'], name: 'Grace' });
    expect((await named.attempts())[0].groups).toEqual(['Grace']);
  });

  test.each([
    ['email_domain_differs', 'claims', { email: 'ada@elsewhere.test' }, 'ada@elsewhere.test'],
    ['email_missing', 'claims', { email: undefined }, undefined],
    ['email_malformed', 'claims', { email: 'not an address' }, undefined],
    ['email_not_verified', 'claims', { email_verified: false }, expect.stringContaining('@')],
  ])('§4.1 step 4 a refused attempt has the code %s', async (code, stage, claims, email) => {
    const { domain, attempts } = await watched();
    await arrive(domain, { groups: ['g'], ...claims });
    const [attempt, ...others] = await attempts();
    expect(others).toEqual([]);
    expect(attempt).toMatchObject({ ok: false, stage, code, groups: ['g'] });
    expect(attempt.email).toEqual(email);
  });

  test('I1 a second identity with the same address is refused at the stage account', async () => {
    const { domain, attempts } = await watched();
    const { email } = await arrive(domain);
    await arrive(domain, { email });
    expect((await attempts())[0]).toMatchObject({
      ok: false,
      stage: 'account',
      code: 'identity_conflict',
      email,
    });
  });

  test('I5 a person removed from the organization is refused at the stage session', async () => {
    const { domain, org, attempts } = await watched();
    const { email, sub } = await arrive(domain);
    await removeMember(idctl.operator(), { org: org.slug, user: email });
    await signInAt(idctl, provider, domain, sub);
    expect((await attempts())[0]).toMatchObject({
      ok: false,
      stage: 'session',
      code: 'deactivated',
      email,
    });
  });

  test('S6 if the connection is disabled during a sign-in, the sign-in is refused at the stage connection', async () => {
    const { domain, org, attempts } = await watched(liar.issuer);
    const client = idctl.client({ keepCookies: true });
    const state = new URL(await start(client, domain)).searchParams.get('state');
    await disableSso(idctl.operator(), { org: org.slug });
    await comeBack(client, `http://idctl/auth/sso/callback?state=${state}&code=c`);
    expect(await attempts()).toMatchObject([
      { ok: false, stage: 'connection', code: 'connection_changed' },
    ]);
  });
});

describe('faults of the provider are stored as idctl’s own codes', () => {
  test.each([
    ['token', 'invalid_grant', { status: 400, body: { error: 'invalid_grant' } }],
    [
      'token',
      'error_response',
      { status: 400, body: { error: '<b>canary</b>', error_description: 'canary' } },
    ],
    ['token', 'unexpected_status', { status: 500, body: 'canary' }],
    [
      'id_token',
      'alg_invalid',
      { body: { access_token: 'canary', token_type: 'Bearer', id_token: 'e30.e30.e30' } },
    ],
  ])('S8 a fault at the stage %s is stored as %s', async (stage, code, answer) => {
    const { domain, attempts } = await watched(liar.issuer);
    const { token } = liar.answers;
    liar.answers.token = () => answer;
    await comeBackFromLiar(domain);
    liar.answers.token = token;
    const [attempt] = await attempts();
    expect(attempt.ok).toBe(false);
    expect(attempt.stage).toBe(stage);
    expect(attempt.code).toBe(code);
    const rows = await SsoAttempt.findAll({ where: { id: attempt.id }, raw: true });
    expect(JSON.stringify(rows)).not.toContain('canary');
  });

  test('S9 a token endpoint at an address that is not allowed is stored as outbound_refused', async () => {
    const { domain, attempts } = await watched(liar.issuer);
    const { discovery } = liar.answers;
    liar.answers.discovery = () => ({
      body: { ...liar.document(), token_endpoint: 'https://169.254.169.254/' },
    });
    // After a fault, idctl forgets the discovery document that it cached in an earlier test.
    const { token } = liar.answers;
    liar.answers.token = () => ({ status: 400, body: {} });
    await comeBackFromLiar(domain);
    liar.answers.token = token;
    await comeBackFromLiar(domain);
    liar.answers.discovery = discovery;
    expect((await attempts())[0]).toMatchObject({ stage: 'token', code: 'outbound_refused' });
  });

  test('a refusal by the person or the provider is stored as refused_by_provider', async () => {
    const { domain, attempts } = await watched(liar.issuer);
    await comeBackFromLiar(domain, '&error=access_denied&error_description=canary');
    expect(await attempts()).toMatchObject([
      { ok: false, stage: 'authorization', code: 'refused_by_provider' },
    ]);
  });
});

describe('strangers', () => {
  test('starting a sign-in does not store an attempt, and neither does a refused state', async () => {
    const { domain, attempts } = await watched(liar.issuer);
    await start(idctl.client(), domain);
    await idctl.client().get('/auth/sso/callback?code=c&state=forged');
    expect(await attempts()).toEqual([]);
    const { client, callback } = await comeBackFromLiar(domain);
    await comeBack(client, callback);
    expect(await attempts()).toHaveLength(1);
  });

  /** Adds this many attempts, an hour older than all others. */
  async function fill(
    connectionId: string,
    count: number,
    more: { code: string | null; email: string | null },
  ) {
    const old = {
      at: new Date(),
      stage: 'token' as const,
      ok: false,
      groups: null,
      groupsMalformed: false,
    };
    await transaction(async () => {
      for (let n = 0; n < count; n += 1) {
        // The time in the id is an hour ago.
        const time = (Date.now() - 3_600_000).toString(16).padStart(12, '0');
        const id = `${time.slice(0, 8)}-${time.slice(8)}${randomUUID().slice(13).replace('-4', '-7')}`;
        await SsoAttempt.create({ connectionId, id, ...old, ...more });
      }
    });
  }

  test('at most 100 attempts without an address are stored, and they push out none with an address', async () => {
    const { domain, attempts } = await watched();
    await arrive(domain);
    const [{ connection }] = await attempts();
    await fill(connection, 150, { code: 'invalid_grant', email: null });
    await arrive(domain, { email: undefined });
    const count = (where: object) =>
      SsoAttempt.count({ where: { connectionId: connection, ...where } });
    expect(await count({ email: null })).toBe(100);
    expect(await count({ code: 'email_missing' })).toBe(1);
    expect(await count({ ok: true })).toBe(1);
  });

  test('at most 400 attempts with an address are stored', async () => {
    const { domain, attempts } = await watched();
    const { email } = await arrive(domain);
    const [{ connection }] = await attempts();
    await fill(connection, 420, { code: null, email: 'x@y.test' });
    const last = await arrive(domain);
    expect(await SsoAttempt.count({ where: { connectionId: connection } })).toBe(400);
    expect((await attempts()).slice(0, 2)).toMatchObject([{ email: last.email }, { email }]);
  });
});

describe('the list of attempts', () => {
  test('shows the newest attempts first, in pages', async () => {
    const { domain, org, owner } = await watched();
    const emails: string[] = [];
    for (let n = 0; n < 3; n += 1) emails.unshift((await arrive(domain)).email);
    const read = (query: string) =>
      owner.get(`/api/v1/orgs/${org.slug}/sso/attempts?limit=2${query}`);
    const first = (await read('')).body;
    const second = (await read(`&cursor=${first.nextCursor}`)).body;
    expect([...first.items, ...second.items].map(({ email }) => email)).toEqual(emails);
    expect(second.nextCursor).toBe(null);
  });

  test('O7 shows an organization only its own attempts, and is 404 without a connection', async () => {
    const ours = await watched();
    const theirs = await watched();
    await arrive(ours.domain);
    expect(await theirs.attempts()).toEqual([]);
    const none = await organization(idctl);
    const owner = await signedIn(idctl, none.owner.email);
    expect((await owner.get(`/api/v1/orgs/${none.slug}/sso/attempts`)).status).toBe(404);
    expect((await owner.get(`/api/v1/orgs/${ours.org.slug}/sso/attempts`)).status).toBe(404);
  });

  test('keeps an attempt for 7 days', async () => {
    const { domain, attempts } = await watched();
    await arrive(domain);
    const sweepIn = async (seconds: number) => {
      idctl.wait(seconds);
      await sweepNow(idctl.operator());
      idctl.wait(-seconds);
    };
    const week = 7 * 24 * 3600;
    await sweepIn(week - 60);
    expect(await attempts()).toHaveLength(1);
    await sweepIn(week + 60);
    expect(await attempts()).toEqual([]);
  });

  test('is deleted with the connection', async () => {
    const { domain, org, attempts } = await watched();
    await arrive(domain);
    const [{ connection }] = await attempts();
    await removeSso(idctl.operator(), { org: org.slug });
    expect(await SsoAttempt.count({ where: { connectionId: connection } })).toBe(0);
  });
});

test('if an attempt cannot be stored, the sign-in has the same result', async () => {
  const { domain, attempts } = await watched();
  const broken = vi.spyOn(SsoAttempt, 'create').mockRejectedValue(new Error('disk full'));
  const { answer } = await arrive(domain);
  const refused = await arrive(domain, { email: undefined });
  broken.mockRestore();
  expect(answer.status).toBe(200);
  expect(refused.answer).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
  expect(await attempts()).toEqual([]);
});
