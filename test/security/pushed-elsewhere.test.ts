import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { transaction } from '../../src/database/transaction.ts';
import { addDomain, removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { appOf } from '../support/apps.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { open } from '../support/pages.ts';
import { type ScimClient, scimClient } from '../support/scim-client.ts';
import { connected, registration, signInAt } from '../support/sso.ts';
import { tokenOf } from '../support/tokens.ts';
import { enrolled } from '../support/two-factor.ts';

// The attack: an organization adds a stranger's address by SCIM, which the specification allows. It
// tries to change what happens to the account outside that organization.

let idctl: MailingIdctl;
let provider: OpenIdProvider;
beforeAll(async () => {
  idctl = await openMailingIdctl({
    signup: { open: 'on' },
    outbound: { allow: ['127.0.0.1'] },
    limits: { addressFailures: 1_000_000 },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
});
afterAll(async () => {
  await idctl?.close();
  await provider?.stop();
});

/** A person with a second factor who signs in through the provider of their organization. */
async function victim() {
  const { org, domain } = await connected(idctl, provider.issuer);
  const { account, code } = await enrolled(idctl, `${fresh('ada')}@${domain}`);
  const email = account.email ?? '';
  const sub = fresh('sub');
  provider.people.set(sub, { email, email_verified: true, name: 'Ada Byron' });
  const signIn = () => signInAt(idctl, provider, domain, sub);
  return { org, domain, id: account.id, email, code, sub, signIn };
}

/** Adds the address by SCIM. Returns the client and the record's id. */
async function push(userName: string): Promise<{ rival: ScimClient; record: string }> {
  const rival = await scimClient(idctl);
  const { id } = await rival.create({ userName, displayName: 'Pushed Name' });
  return { rival, record: String(id) };
}

const active = (value: boolean) => ({ op: 'replace', path: 'active', value });

test('O8 P12 a pushed membership ends neither a session nor a token elsewhere, when it begins, ends or begins again', async () => {
  const { email, signIn } = await victim();
  const { client, answer } = await signIn();
  expect(answer.status).toBe(200);
  const { token } = (await client.post('/api/v1/me/tokens', { name: 'ci' })).body;
  const alive = async () => [
    (await client.get('/api/v1/me')).status,
    (await idctl.client().get('/api/v1/me', { 'x-api-key': token })).status,
  ];
  const { rival, record } = await push(email);
  expect(await alive()).toEqual([200, 200]);
  expect((await rival.patch(record, active(false))).status).toBe(200);
  expect(await alive()).toEqual([200, 200]);
  expect((await rival.patch(record, active(true))).status).toBe(200);
  expect(await alive()).toEqual([200, 200]);
  expect((await rival.send('DELETE', `/Users/${record}`)).status).toBe(204);
  expect(await alive()).toEqual([200, 200]);
});

test('O8 an organization that has claimed a domain, but not verified it, ends no session of a person on it', async () => {
  const domain = `${fresh('claimed')}.test`;
  const { email } = await person(idctl, `ada@${domain}`);
  const client = await signedIn(idctl, email);
  const { rival, record } = await push(email ?? '');
  await addDomain(idctl.operator(), { org: rival.org.slug, domain });
  expect((await rival.patch(record, active(false))).status).toBe(200);
  expect((await client.get('/api/v1/me')).status).toBe(200);
});

test.each(['member', 'admin'] as const)(
  'O8 P12 single sign-on asks a pushed %s of another organization for no second factor',
  async (role) => {
    const { id, email, signIn } = await victim();
    const { rival } = await push(email);
    await changeMemberRole(idctl.operator(), { org: rival.org.slug, user: id, role });
    const { answer, client } = await signIn();
    expect(answer.status).toBe(200);
    expect((await open(client, '/')).text).toContain('not required here');
  },
);

test('I8 O8 single sign-on asks a pushed person whom the operator made an owner for the second factor', async () => {
  const { id, email, signIn } = await victim();
  const { rival } = await push(email);
  await changeMemberRole(idctl.operator(), { org: rival.org.slug, user: id, role: 'owner' });
  expect((await signIn()).answer.body.code).toBe('second_factor_required');
});

test('O8 I3 a takeover by the domain’s next owner ends the second factor of the earlier holder, though another organization pushed the account', async () => {
  const { org, domain, email, id, sub } = await victim();
  await transaction(() => Account.update({ emailProof: 'domain' }, { where: { id } }));
  await push(email);
  await removeDomain(idctl.operator(), { org: org.slug, domain });
  const next = await organization(idctl);
  await verifiedDomain(idctl, next.slug, domain);
  const input = { org: next.slug, emailDomain: domain, issuer: provider.issuer, ...registration };
  await saveSso(idctl.operator(), saveSsoInput.parse({ ...input, enabled: true }));
  const { answer } = await signInAt(idctl, provider, domain, sub);
  expect(answer).toMatchObject({ status: 200, body: { user: { id, twoFactorEnabled: false } } });
});

test('O8 I4 the name that a SCIM client pushed gives way to the name of the person’s own sign-up', async () => {
  const email = `${fresh('new')}@example.test`;
  await push(email);
  const body = { email, password, name: 'Ada Byron' };
  expect((await idctl.client().post('/api/v1/auth/signup', body)).status).toBe(201);
  await idctl.deliver();
  expect((await Account.findOne({ where: { email } }))?.name).toBe('Ada Byron');
});

test('O8 O9 the token of a pushed member is inactive at the organization’s app', async () => {
  const { id, email } = await victim();
  const { rival } = await push(email);
  const app = await appOf(idctl, { user: rival.org.owner.id, organization: rival.org.slug });
  const { token } = await tokenOf(idctl, { user: id });
  const introspect = () =>
    idctl.client().form('/api/v1/oauth/introspect', { ...app.credentials, token });
  expect((await introspect()).body).toEqual({ active: false });
});
