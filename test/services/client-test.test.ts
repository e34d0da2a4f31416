import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Client } from '../../src/database/models/client.ts';
import { Event } from '../../src/database/models/event.ts';
import { ProviderRecord } from '../../src/database/models/provider-record.ts';
import { Session } from '../../src/database/models/session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { keysOfIdTokens } from '../../src/services/foundation/keys/signing-key.ts';
import { testClient } from '../../src/services/signin/provider/test.ts';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { fresh, organization, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { freePorts } from '../support/ports.ts';
import { scimClient } from '../support/scim-client.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

interface Step {
  name: string;
  ok: boolean;
  skipped?: true;
  seen: string;
  hint?: string;
}

/** An organization with a signed-in owner, and a client with these settings. */
async function site(given: object = {}) {
  const org = await organization(idctl);
  const owner = await signedIn(idctl, org.owner.email);
  const settings = { name: 'Wiki', redirectUris: ['http://localhost:3000/callback'], ...given };
  const made = await createClient(
    idctl.operator(),
    createClient.input.parse({ ...settings, org: org.slug }),
  );
  const path = `/api/v1/orgs/${org.slug}/clients/Wiki/test`;
  const ask = async (body: object = {}) => {
    const answer = await owner.post(path, body);
    expect(answer.status).toBe(200);
    const steps: Step[] = answer.body.steps;
    return {
      body: answer.body,
      step: (name: string) => steps.find((each) => each.name.startsWith(name)),
      failed: steps.filter(({ ok }) => !ok).map(({ name }) => name),
    };
  };
  return { org, made, path, ask };
}

test('the key for the algorithm of the client is found, and no sign-in is tried without a person', async () => {
  const { ask } = await site({ idTokenAlg: 'RS256' });
  const { body, step, failed } = await ask();
  expect(failed).toEqual([]);
  expect(step('keys')?.seen).toBe('a key for RS256');
  expect(step('sign-in')).toMatchObject({ skipped: true });
  expect(body.claims).toBeNull();
});

test('interface page: POST …/clients/{clientId}/test passes, and shows the claims of the ID token', async () => {
  const { org, made, ask } = await site({ idTokenAlg: 'EdDSA' });
  const before = [await Session.count(), await Event.count()];
  const { body, step, failed } = await ask({ user: org.owner.email });
  expect(failed).toEqual([]);
  expect(body.message).toBe('No check failed. Now sign in to Wiki with a browser.');
  expect(step('discovery')?.seen).toBe(idctl.baseUrl);
  expect(step('keys')?.seen).toBe('a key for EdDSA');
  expect(step('back-channel')).toMatchObject({ ok: true, skipped: true });
  expect(body.claims).toMatchObject({
    sub: org.owner.id,
    email: org.owner.email,
    groups: ['owner'],
    organization: { id: org.id, slug: org.slug },
  });
  expect(Object.keys(body.claims)).not.toContain('sid');
  expect([await Session.count(), await Event.count()]).toEqual(before);
  expect(JSON.stringify(body)).not.toContain(made.clientSecret);
});

test.each([
  [
    'a client with a secret and RS256',
    { redirectUris: ['http://localhost/a', 'http://localhost/b?c=d'] },
  ],
  ['a client with a secret and EdDSA, without PKCE', { idTokenAlg: 'EdDSA', pkce: false }],
  ['a public client', { public: true }],
])('the test of %s runs a whole sign-in and does not leave a trace', async (_name, given) => {
  const { org, made, ask } = await site(given);
  await keysOfIdTokens(idctl.operator());
  const traces = () =>
    Promise.all([
      Session.count(),
      Event.count(),
      ProviderRecord.count(),
      Client.findAll({ where: { organizationId: org.id }, raw: true }),
    ]);
  const before = await traces();
  const { step, failed, body } = await ask({ user: org.owner.email });
  expect(failed).toEqual([]);
  const names = body.steps.map(({ name }: Step) => name);
  expect(names.slice(names.indexOf('sign-in'))).toEqual([
    'sign-in',
    'session',
    'authorization',
    'tokens',
    'userinfo',
    'refresh',
  ]);
  expect(step('tokens')?.seen).toBe(`an ID token signed with ${made.idTokenAlg}`);
  expect(await traces()).toEqual(before);
});

test('the test checks every redirect URI, and requests a code for only one', async () => {
  const redirectUris = [1, 2, 3, 4, 5].map((at) => `http://localhost/${at}`);
  const { org } = await site({ redirectUris });
  const ctx = idctl.operator();
  // This limit is enough for one code, its tokens and their refresh.
  const limits = { ...ctx.config.limits, tokenRequests: 3 };
  const input = { org: org.slug, client: 'Wiki', user: org.owner.email ?? '' };
  const { steps } = await testClient({ ...ctx, config: { ...ctx.config, limits } }, input);
  expect(steps.at(-1)).toMatchObject({ name: 'refresh', ok: true });
});

test('the sign-in of the test stops at the step that fails', async () => {
  const { org, ask } = await site();
  // Writes the row directly, because no operation accepts this redirect URI.
  await transaction(() =>
    Client.update({ redirectUris: ['http://localhost/#a'] }, { where: { organizationId: org.id } }),
  );
  const { step, failed } = await ask({ user: org.owner.email });
  expect(failed.at(-1)).toBe('authorization');
  expect(step('authorization')?.seen).toContain('http://localhost/#a: invalid_');
  expect(step('tokens')).toBeUndefined();
});

test('an organization can run at most 20 client tests in ten minutes', async () => {
  const { ask, path, org } = await site();
  for (let turn = 0; turn < 20; turn += 1) await ask();
  const owner = await signedIn(idctl, org.owner.email);
  const { status, headers } = await owner.post(path, {});
  expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true]);
});

test('the test shows why the client refuses a person: no role in the project, or no membership', async () => {
  const org = await organization(idctl);
  const owner = await signedIn(idctl, org.owner.email);
  const { slug } = await createProject(idctl.operator(), { org: org.slug, name: fresh('web') });
  const input = { org: org.slug, name: 'Wiki', redirectUris: ['http://localhost/cb'] };
  await createClient(
    idctl.operator(),
    createClient.input.parse({ ...input, project: slug, role: 'admin' }),
  );
  const member = `${fresh('mia')}@example.test`;
  await person(idctl, member);
  await addMember(idctl.operator(), { org: org.slug, email: member, role: 'member' });
  const stranger = `${fresh('sam')}@example.test`;
  await person(idctl, stranger);
  const path = `/api/v1/orgs/${org.slug}/clients/Wiki/test`;
  const signIn = async (user: string) => {
    const { body } = await owner.post(path, { user });
    expect([body.ok, body.claims]).toEqual([false, null]);
    return body.steps.at(-1).seen;
  };
  expect(await signIn(member)).toMatch(/access_denied, as the person lacks the role/);
  const told = await signIn(stranger);
  expect(told).toMatch(/access_denied, as no member/);
  // An account outside the organization and an unknown address get the same answer.
  const unknown = `${fresh('no')}@example.test`;
  expect(await signIn(unknown)).toBe(told.replace(stranger, unknown));
});

test('O8 if SCIM added a member on an unverified domain, the test tells an admin nothing about the account', async () => {
  const rival = await scimClient(idctl);
  const admin = await signedIn(idctl, rival.org.owner.email);
  const org = rival.org.slug;
  const input = { org, name: 'Wiki', redirectUris: ['http://localhost/cb'] };
  await createClient(idctl.operator(), createClient.input.parse(input));
  const address = () => `${fresh('eve')}@elsewhere.test`;
  const [known, disabled, unknown] = [address(), address(), address()];
  await person(idctl, known);
  const { id } = await person(idctl, disabled);
  await transaction(() => Account.update({ disabledAt: new Date() }, { where: { id } }));
  const told: string[] = [];
  for (const email of [known, disabled, unknown]) {
    await rival.create({ userName: email, emails: [{ value: email, primary: true }] });
    const { body } = await admin.post(`/api/v1/orgs/${org}/clients/Wiki/test`, { user: email });
    told.push(JSON.stringify(body));
    expect(body.steps.at(-1)).toMatchObject({ name: 'sign-in', ok: false });
    expect(body.steps.at(-1).seen).toMatch(/provisioning added the address/);
  }
  expect(new Set(told).size).toBe(1);
});

test('the test reports a host that does not resolve, a private back-channel address and a suspended secret', async () => {
  const { org, ask } = await site({
    redirectUris: ['https://wiki.invalid/a', 'https://wiki.invalid/b', 'https://10.255.0.1/cb'],
  });
  // Writes the row directly, because no operation accepts this address.
  const changed = { backchannelLogoutUri: 'https://127.0.0.1/logout', suspendedAt: new Date() };
  await transaction(() => Client.update(changed, { where: { organizationId: org.id } }));
  const { body, step, failed } = await ask();
  expect(failed).toEqual([
    'redirect URI https://wiki.invalid/a',
    'redirect URI https://wiki.invalid/b',
    'back-channel logout',
    'client secret',
  ]);
  expect(body.message).toMatch(
    /^Step 3, redirect URI .*wiki\.invalid cannot be resolved\. 3 more failed\.$/,
  );
  expect(step('redirect URI https://10.')?.hint).toMatch(/^idctl could not connect to it/);
  expect(step('back-channel')?.hint).toMatch(/outbound\.allow/);
  expect(step('client secret')?.hint).toMatch(
    /^Create a new one: POST .+\/clients\/client-.+\/rotate$/,
  );
});

test('a base URL that this machine cannot reach is a failed step, not an error', async () => {
  const { org } = await site();
  const ctx = idctl.operator();
  const [port] = await freePorts(1);
  const config = { ...ctx.config, baseUrl: `http://127.0.0.1:${port}` };
  const { ok, steps } = await testClient({ ...ctx, config }, { org: org.slug, client: 'Wiki' });
  expect(ok).toBe(false);
  expect(steps[0]?.seen).toBe(
    `this machine cannot read it: 127.0.0.1:${port} refused the connection`,
  );
});

test('O12 a member may not test a client', async () => {
  const { org, path } = await site();
  const email = `${fresh('mia')}@example.test`;
  await person(idctl, email);
  await addMember(idctl.operator(), { org: org.slug, email, role: 'member' });
  expect((await (await signedIn(idctl, email)).post(path, {})).status).toBe(403);
});
