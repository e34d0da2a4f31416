import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transaction } from '../../src/database/transaction.ts';
import { tallyEvent } from '../../src/services/foundation/events/record.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { findAnyReference } from '../../src/services/signin/reference.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { clientOf } from '../support/scim-client.ts';
import { connected, registration, signInAt } from '../support/sso.ts';

let idctl: MailingIdctl;
let provider: OpenIdProvider;
beforeAll(async () => {
  idctl = await openMailingIdctl({
    outbound: { allow: ['127.0.0.1'] },
    signin: { magicCode: true },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
});
afterAll(async () => {
  await idctl.close();
  await provider.stop();
});

/** An organization with a verified domain, and its owner signed in. */
async function company() {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const owner = await signedIn(idctl, org.owner.email);
  return { org, domain, ask: asking(owner, org.slug) };
}

const asking = (client: Client, org: string) => (reference: string) =>
  client.get(`/api/v1/orgs/${org}/events/${reference}`);

/** Fails to sign in with a password. Returns the reference that the person is shown. */
async function fail(email: string | null, given = 'wrong'): Promise<string> {
  const { body } = await idctl.client().post('/api/v1/auth/login', { email, password: given });
  expect(body.code).toBe('signin_failed');
  return body.requestId;
}

const asOperator = (reference: string, org?: string) =>
  findAnyReference(idctl.operator(), { reference, org });

test('X5 a reference finds the event of a refused sign-in, and why this sign-in was refused', async () => {
  const { org, domain, ask } = await company();
  const ada = await person(idctl, `${fresh('ada')}@${domain}`);
  const first = await fail(ada.email);
  await disableUser(idctl.operator(), { user: ada.id });
  const second = await fail(ada.email, password);
  const found = await ask(first);
  expect([found.status, found.body]).toEqual([
    200,
    {
      event: {
        id: expect.any(String),
        kind: 'signin.refused',
        at: expect.any(String),
        actor: { kind: 'anonymous' },
        subject: { type: 'user', id: ada.id, name: 'Ada Byron' },
        data: {
          method: 'password',
          reason: 'account_disabled',
          count: 2,
          lastAt: expect.any(String),
          references: [first, second],
          reasons: ['wrong_password', 'account_disabled'],
        },
      },
      attempt: null,
      reason: 'The password is wrong.',
    },
  ]);
  expect((await ask(second.toUpperCase())).body.reason).toBe('The account is disabled.');
  const seen = await asOperator(second);
  expect(seen.event).toMatchObject({ organization: null, address: ada.email });
  expect(seen.event?.data).toHaveProperty('address');
  expect(await asOperator(second, org.slug)).toEqual((await ask(second)).body);
});

test('X5 a reference finds a refused single sign-on: its attempt and its event', async () => {
  const { org, domain } = await connected(idctl, provider.issuer);
  const ask = asking(await signedIn(idctl, org.owner.email), org.slug);
  const sub = fresh('grace');
  provider.people.set(sub, { email: `${sub}@elsewhere.test`, email_verified: true, name: 'Grace' });
  const { answer } = await signInAt(idctl, provider, domain, sub);
  const { body } = await ask(answer.body.requestId);
  expect(body).toMatchObject({
    event: { kind: 'sso.signin.refused', data: { reason: 'email_domain_differs' } },
    attempt: { ok: false, stage: 'claims', email: `${sub}@elsewhere.test` },
    reason: 'The e-mail address is not on the domain of the connection.',
  });
  const known = fresh('alan');
  provider.people.set(known, { email: `${known}@${domain}`, email_verified: true, name: 'Alan' });
  const arrived = await signInAt(idctl, provider, domain, known);
  const reference = String(arrived.answer.headers['x-request-id']);
  expect((await ask(reference)).body).toMatchObject({
    ...{ event: null, attempt: { ok: true, stage: 'session' }, reason: null },
  });
  const rival = await company();
  expect((await rival.ask(reference)).status).toBe(404);
  expect((await rival.ask(answer.body.requestId)).status).toBe(404);
});

test('X5 a reference finds a refused sign-in of an unknown address on a verified domain, by password and by code', async () => {
  const { domain, ask } = await company();
  const rival = await company();
  const email = `${fresh('nobody')}@${domain}`;
  const byPassword = await fail(email);
  const path = '/api/v1/auth/magic-code/verify';
  const byCode = (await idctl.client().post(path, { email, code: '123456' })).body.requestId;
  for (const reference of [byPassword, byCode]) {
    const { body } = await ask(reference);
    expect([body.reason, body.event.subject, body.event.data.domain]).toEqual([
      'There is no account with this address.',
      null,
      domain,
    ]);
    expect((await rival.ask(reference)).status).toBe(404);
  }
  expect((await ask(await fail(`${fresh('nobody')}@elsewhere.test`))).status).toBe(404);
});

test('O7 a member with an address on a foreign domain is the organization’s own person', async () => {
  const { org, ask } = await company();
  const bo = await person(idctl);
  const reference = await fail(bo.email);
  expect((await ask(reference)).status).toBe(404);
  await addMember(idctl.operator(), { org: org.slug, email: bo.email ?? '', role: 'member' });
  expect((await ask(reference)).body).toMatchObject({ reason: 'The password is wrong.' });
});

test('O7 O8 to another organization, the reference of a foreign sign-in reads like an unknown one', async () => {
  const { org, domain, ask } = await company();
  const attacker = await company();
  const { token } = await rotateScimToken(idctl.operator(), { org: attacker.org.slug });
  const ada = await person(idctl, `${fresh('ada')}@${domain}`);
  await addMember(idctl.operator(), { org: org.slug, email: ada.email ?? '', role: 'member' });
  const scim = clientOf(idctl, attacker.org, token);
  await scim.create({ userName: ada.email, displayName: 'Pushed' });
  const foreign = await fail(ada.email);
  const nobody = await fail(`${fresh('nobody')}@${domain}`);
  expect([(await ask(foreign)).status, (await ask(nobody)).status]).toEqual([200, 200]);
  const bytesOf = async (reference: string) => {
    const { status, body } = await attacker.ask(reference);
    return JSON.stringify([status, { ...body, requestId: null }]);
  };
  const unknown = await bytesOf(randomUUIDv7());
  expect(unknown).toContain('[404,');
  expect([await bytesOf(foreign), await bytesOf(nobody)]).toEqual([unknown, unknown]);
  await expect(asOperator(foreign, attacker.org.slug)).rejects.toMatchObject({ code: 'not_found' });
});

test('O7 an organization does not see the network of a person who was refused', async () => {
  const { domain, ask } = await company();
  const ada = await person(idctl, `${fresh('ada')}@${domain}`);
  const { body } = await ask(await fail(ada.email));
  expect(body.event.data).not.toHaveProperty('address');
  expect(JSON.stringify(body)).not.toContain('127.0.0.1');
});

test('any other reference names only a request, and the refusal says what to search for', async () => {
  const { ask, org } = await company();
  const shown = await idctl.client().get('/api/v1/me');
  const { status, body } = await ask(shown.body.requestId);
  expect([status, body.code, body.detail, body.hint]).toEqual([
    404,
    'not_found',
    'No event has this reference: it names only a request.',
    'To see what happened, search the log of the daemon for the line with this requestId.',
  ]);
  await expect(asOperator(shown.body.requestId)).rejects.toMatchObject({ code: 'not_found' });
  // An id in the data of an event is no reference.
  const account = randomUUIDv7();
  const subject = { type: 'client', id: 'client-x', name: 'X' };
  const data = { reason: 'not_a_member', account };
  const what = { kind: 'client.refused' as const, organizationId: org.id, subject, data };
  await transaction(() => tallyEvent(idctl.operator(), what, { of: org.id, apart: account }));
  expect((await ask(account)).status).toBe(404);
});

test.each(['x', '1', 'd9428888-122b-41e1-b85c-61bd1ec9e0d5', `${randomUUIDv7()}'`])(
  'X6 the malformed reference %s is refused by the schema',
  async (reference) => {
    const { ask } = await company();
    const { status, body } = await ask(encodeURIComponent(reference));
    expect([status, body.errors?.[0]?.path]).toEqual([400, 'reference']);
  },
);

test.each(['00000000-0000-7000-8000-000000000000', 'ffffffff-ffff-7fff-bfff-ffffffffffff'])(
  'the reference %s, at the end of time, is an unknown one',
  async (reference) => {
    const { ask } = await company();
    expect((await ask(reference)).status).toBe(404);
  },
);
