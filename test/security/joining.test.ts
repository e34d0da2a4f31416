import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Session } from '../../src/database/models/session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { fresh, organization, password } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { connected, registration, signInAt } from '../support/sso.ts';
import { enrolled } from '../support/two-factor.ts';

// A provider signs a person in without the second factor.
// Then the account joins another organization.

let idctl: Idctl;
let provider: OpenIdProvider;
beforeAll(async () => {
  idctl = await openIdctl({
    outbound: { allow: ['127.0.0.1'] },
    orgs: { creation: 'anyone' },
    limits: { addressFailures: 1_000_000 },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
});
afterAll(async () => {
  await provider?.stop();
  await idctl.close();
});

/** A person with a second factor, and a function that signs them in through the provider. */
async function victim() {
  const { org, domain } = await connected(idctl, provider.issuer);
  const { account, client, code } = await enrolled(idctl, `${fresh('ada')}@${domain}`);
  const email = account.email ?? '';
  const sub = fresh('sub');
  provider.people.set(sub, { email, email_verified: true, name: 'Ada Byron' });
  const signIn = () => signInAt(idctl, provider, domain, sub);
  return { org, email, id: account.id, client, code, signIn };
}

async function joinAnother(email: string) {
  const tenant = await organization(idctl);
  await addMember(idctl.operator(), { org: tenant.slug, email, role: 'admin' });
  return tenant;
}

const bearing = (token: string) =>
  idctl.client({ headers: { authorization: `Bearer ${token}` } }).get('/api/v1/me');

test('P12 a sign-in in progress while the account joins another organization needs the second factor', async () => {
  const { email, id, signIn } = await victim();
  const { slug: org } = await organization(idctl);
  let arriving: ReturnType<typeof signIn> | undefined;
  await transaction(async () => {
    await addMember(idctl.operator(), { org, email, role: 'admin' });
    arriving = signIn();
    // A sign-in that does not wait finishes within this time.
    await Promise.race([arriving, setTimeout(1500)]);
  });
  expect((await arriving)?.answer).toMatchObject({
    status: 401,
    body: { code: 'second_factor_required' },
  });
  expect(await Session.count({ where: { accountId: id, method: 'sso', endedAt: null } })).toBe(0);
});

const mint = (app: { clientId: string; clientSecret: string }) =>
  idctl.client().form('/api/v1/oauth/token', {
    grant_type: 'client_credentials',
    client_id: app.clientId,
    client_secret: app.clientSecret,
  });

test('P12 credentials made in a provider’s session end with that session when the account joins an organization; others stay', async () => {
  const { email, client: own, signIn } = await victim();
  const kept = (await own.post('/api/v1/me/tokens', { name: 'kept' })).body;
  const { client } = await signIn();
  const token = (await client.post('/api/v1/me/tokens', { name: 'ci' })).body;
  const lent = (await client.post('/api/v1/me/tokens', { name: 'lent' })).body;
  const renewed = (await own.post('/api/v1/me/tokens', { name: 'renewed' })).body;
  const taken = (await client.post(`/api/v1/me/tokens/${renewed.id}/regenerate`)).body;
  const app = (await client.post('/api/v1/me/apps', { name: 'app' })).body;
  const ownApp = (await own.post('/api/v1/me/apps', { name: 'own' })).body;
  const takenApp = (await client.post(`/api/v1/me/apps/${ownApp.id}/regenerate`)).body;
  // A token that the person regenerates in a session with the second factor stays valid.
  const mended = (await own.post(`/api/v1/me/tokens/${lent.id}/regenerate`)).body;
  for (const { token: value } of [kept, mended, token, taken])
    expect((await bearing(value)).status).toBe(200);
  const minted = (await mint(app)).body.access_token;
  expect((await bearing(minted)).status).toBe(200);
  await joinAnother(email);
  for (const value of [kept.token, mended.token]) expect((await bearing(value)).status).toBe(200);
  expect((await bearing(minted)).status).toBe(401);
  expect((await bearing(token.token)).status).toBe(401);
  expect((await bearing(taken.token)).status).toBe(401);
  for (const { clientId, clientSecret } of [app, takenApp]) {
    expect((await mint({ clientId, clientSecret })).status).toBe(401);
  }
});

test('P12 an organization that the account creates counts as joined', async () => {
  const { email, code, signIn } = await victim();
  const { client: provided } = await signIn();
  const own = await idctl
    .client()
    .post('/api/v1/auth/login', { email, password, totpCode: code() });
  const authorization = `Bearer ${own.body.accessToken}`;
  const made = await idctl
    .client({ headers: { authorization } })
    .post('/api/v1/orgs', { name: fresh('Org') });
  expect(made.status).toBe(201);
  expect((await provided.get('/api/v1/me')).status).toBe(401);
});
