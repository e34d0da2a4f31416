import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ signup: { open: 'on' } });
});
afterAll(() => idctl.close());

const path = '/api/v1/auth/signup';
const whole = () => ({ email: `${fresh('ada')}@example.test`, password, name: 'Ada Byron' });

test('interface page: on an instance that does not send mail, a sign-up creates the account and a session', async () => {
  const body = { ...whole(), locale: 'de' };
  const client = idctl.client({ keepCookies: true });
  const answer = await client.post(path, { ...body, email: body.email.toUpperCase() });
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({
    emailVerification: 'done',
    user: { email: body.email, emailVerified: true, name: 'Ada Byron', locale: 'de' },
    tokenType: 'Bearer',
    expiresIn: 900,
  });
  expect(answer.cookies.map(({ name, httpOnly }) => [name, httpOnly])).toEqual([
    ['access_token', true],
    ['refresh_token', true],
    ['session_name', true],
    ['known_browser', true],
  ]);
  expect(JSON.stringify(answer.body)).not.toContain(password);
  expect((await client.get('/api/v1/me')).body).toMatchObject({
    email: body.email,
    organizations: [],
  });
  await signedIn(idctl, body.email);
});

test('I3 after a sign-up without mail, the address counts as verified but not as proved', async () => {
  const { body } = await idctl.client().post(path, whole());
  expect(await Account.findByPk(body.user.id)).toMatchObject({ emailProof: 'auto' });
  const events = await Event.findAll({ order: ['id'] });
  expect(events.filter(({ subject }) => subject?.id === body.user.id)).toMatchObject([
    { kind: 'user.created', actor: { kind: 'anonymous' }, data: { by: 'signup' } },
    { kind: 'session.started' },
  ]);
});

test('interface page: if signup.open is off, a sign-up is refused with signup_closed', async () => {
  // The setting is read at each request; a second instance cannot be open in this process.
  idctl.app.config.signup.open = 'off';
  const body = whole();
  const answer = await idctl.client().post(path, body);
  idctl.app.config.signup.open = 'on';
  expect(answer).toMatchObject({ status: 403, body: { code: 'signup_closed' }, cookies: [] });
  expect(await Account.count({ where: { email: body.email } })).toBe(0);
});

test('O2 an address on a verified domain cannot sign up until the organization removes the domain', async () => {
  const { slug: org } = await organization(idctl);
  const domain = await verifiedDomain(idctl, org);
  const body = { ...whole(), email: `ada@${domain}` };
  expect(await idctl.client().post(path, body)).toMatchObject({
    status: 403,
    body: { code: 'signup_closed', detail: `Addresses on ${domain} belong to an organization.` },
  });
  expect((await idctl.client().post(path, { ...body, email: `ada@sub.${domain}` })).status).toBe(
    201,
  );
  await removeDomain(idctl.operator(), { org, domain });
  expect((await idctl.client().post(path, body)).status).toBe(201);
});

test('O2 with trust.domains: off, an address on the domain of an enabled connection cannot sign up', async () => {
  idctl.app.config.trust.domains = 'off';
  const { slug: org } = await organization(idctl);
  const emailDomain = `${fresh('d')}.test`;
  const connection = {
    org,
    emailDomain,
    issuer: 'https://idp.test',
    clientId: 'c',
    clientSecret: 's',
  };
  await saveSso(idctl.operator(), saveSsoInput.parse({ ...connection, enabled: true }));
  const answer = await idctl.client().post(path, { ...whole(), email: `ada@${emailDomain}` });
  idctl.app.config.trust.domains = 'enforce';
  expect(answer).toMatchObject({ status: 403, body: { code: 'signup_closed' } });
});

test('P7 without mail, a sign-up for a taken address gets 409 with a hint; the account keeps its password, and no session begins', async () => {
  const taken = await person(idctl);
  const body = { ...whole(), email: taken.email, password: 'somebody else entirely' };
  expect(await idctl.client().post(path, body)).toMatchObject({
    status: 409,
    body: { code: 'already_exists', hint: expect.stringContaining('Sign in') },
    cookies: [],
  });
  await signedIn(idctl, taken.email);
});

test('P8 sign-ups for taken addresses are rate-limited for each client; successful sign-ups do not count', async () => {
  const taken = await person(idctl);
  const client = idctl.client();
  const ask = () => client.post(path, { ...whole(), email: taken.email });
  const most = idctl.app.config.limits.addressFailures;
  idctl.wait(120);
  for (let count = 0; count < 3; count++)
    expect((await client.post(path, whole())).status).toBe(201);
  for (let count = 0; count < most; count++) expect((await ask()).status).toBe(409);
  expect(await ask()).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
  idctl.wait(120);
  expect((await ask()).status).toBe(409);
});

test('eight concurrent sign-ups for one address create one account', async () => {
  const body = whole();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => idctl.client().post(path, body)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
});

test('a form on another site cannot sign a person up', async () => {
  const body = whole();
  const answer = await idctl.client().post(path, body, { origin: 'https://evil.test' });
  expect(answer).toMatchObject({ status: 403, body: { code: 'origin_refused' } });
  expect(await Account.count({ where: { email: body.email } })).toBe(0);
});

test.each([
  ['email', { email: 'nonsense' }],
  ['email', { email: ['ada@example.test'] }],
  ['name', { name: 'a\u202eb' }],
  ['name', { name: '' }],
  ['locale', { locale: 'not a tag' }],
  ['password', { password: 'short' }],
  ['password', { password: 'password123' }],
  ['emailProof', { emailProof: 'operator' }],
  ['role', { role: 'owner' }],
])('X6 the refusal of wrong input names the field %s: %j', async (field, wrong) => {
  const body = { ...whole(), ...wrong };
  const before = await Account.count();
  expect(await idctl.client().post(path, body)).toMatchObject({
    status: 400,
    body: { errors: [{ path: field }] },
  });
  expect(await Account.count()).toBe(before);
});
