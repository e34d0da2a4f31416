import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { FormerAddress } from '../../src/database/models/former-address.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import { changeSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import { disableSso, enableSso } from '../../src/services/tenancy/sso/operations.ts';
import { fresh, organization, password, signedIn, verifiedDomain } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { connected, registration, signInAt } from '../support/sso.ts';

let idctl: MailingIdctl;
let provider: OpenIdProvider;
beforeAll(async () => {
  idctl = await openMailingIdctl({
    limits: { addressFailures: 100_000 },
    outbound: { allow: ['127.0.0.1'] },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
});
afterAll(async () => {
  await idctl.close();
  await provider.stop();
});

const auth = (path: string, body: object) => idctl.client().post(`/api/v1/auth/${path}`, body);

/** Signs up and confirms the address. */
async function signUp(email: string): Promise<Client> {
  expect((await auth('signup', { email, password, name: 'Mal' })).status).toBe(201);
  const code = await idctl.codeFor(email);
  expect((await auth('verify-email', { email, code, password })).status).toBe(200);
  return signedIn(idctl, email);
}

async function organizationsOf(client: Client): Promise<string[]> {
  const { body } = await client.get('/api/v1/me');
  return body.organizations.map(({ slug }: { slug: string }) => slug);
}

/** An organization whose people sign up by themselves, and one of them. */
async function company() {
  const { slug: org, id: organizationId } = await organization(idctl);
  const domain = await verifiedDomain(idctl, org);
  await changeSignInSettings(idctl.operator(), { org, allowSelfSignup: true });
  const email = `${fresh('mal')}@${domain}`;
  const client = await signUp(email);
  expect(await organizationsOf(client)).toEqual([org]);
  return { org, organizationId, email, client };
}

async function moveAway(client: Client): Promise<void> {
  const email = `${fresh('new')}@example.test`;
  expect((await client.post('/api/v1/me/email', { email })).status).toBe(202);
  const code = await idctl.codeFor(email);
  expect((await client.post('/api/v1/me/email/confirm', { email, code })).status).toBe(200);
}

/** The ways in which a person gives up their address. */
const ways: Record<string, (client: Client) => Promise<unknown>> = {
  'deletes the account': async (client) =>
    expect((await client.send('DELETE', '/api/v1/me')).status).toBe(204),
  'changes the address': moveAway,
};

async function remove(org: string, email: string): Promise<Client> {
  await removeMember(idctl.operator(), { org, user: email });
  return signedIn(idctl, email);
}

describe('security I5: a removed person who gives up the address', () => {
  test.each(Object.keys(ways))(
    'I5 a removed person who %s and signs up again does not join again',
    async (way) => {
      const { org, email } = await company();
      await ways[way]?.(await remove(org, email));
      expect(await organizationsOf(await signUp(email))).toEqual([]);
      expect(await organizationsOf(await signUp(email.replace('mal', 'eve')))).toEqual([org]);
    },
  );

  test.each(Object.keys(ways))(
    'I5 a removed person who %s is not added by single sign-on',
    async (way) => {
      const { org, domain } = await connected(idctl, provider.issuer);
      const email = `${fresh('mal')}@${domain}`;
      await disableSso(idctl.operator(), { org: org.slug });
      await changeSignInSettings(idctl.operator(), { org: org.slug, allowSelfSignup: true });
      await signUp(email);
      await ways[way]?.(await remove(org.slug, email));
      await enableSso(idctl.operator(), { org: org.slug });
      const sub = fresh('sub');
      provider.people.set(sub, { email, email_verified: true, name: 'Mal' });
      const refused = await signInAt(idctl, provider, domain, sub);
      expect(refused.answer).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
      expect(await Account.findOne({ where: { email } })).toBeNull();
    },
  );

  test('I5 a member who was not removed joins again', async () => {
    for (const giveUp of Object.values(ways)) {
      const { org, email, client } = await company();
      await giveUp(client);
      expect(await organizationsOf(await signUp(email))).toEqual([org]);
    }
  });

  test.each(['an invitation', 'member add', 'SCIM'])(
    'I5 %s makes the next account a member, and lifts the removal',
    async (way) => {
      const { org, organizationId, email } = await company();
      await ways['deletes the account']?.(await remove(org, email));
      expect(await FormerAddress.count({ where: { organizationId } })).toBe(1);
      const client = await signUp(email);
      await admit[way]?.(org, email, client);
      expect(await organizationsOf(await signedIn(idctl, email))).toEqual([org]);
      expect(await FormerAddress.count({ where: { organizationId } })).toBe(0);
    },
  );

  test('O6 after the operator deletes an account, no removal binds its address', async () => {
    const { org, email } = await company();
    await ways['deletes the account']?.(await remove(org, email));
    await signUp(email);
    await deleteUser(idctl.operator(), { user: email });
    expect(await organizationsOf(await signUp(email))).toEqual([org]);
  });

  test('X1 the database has the address only as a keyed hash', async () => {
    const { org, email } = await company();
    await ways['deletes the account']?.(await remove(org, email));
    const rows = JSON.stringify(await FormerAddress.findAll({ raw: true }));
    expect(rows).not.toContain(email);
  });
});

/** The ways in which an admin adds the person. */
const admit: Record<string, (org: string, email: string, client: Client) => Promise<void>> = {
  'an invitation': async (org, email, client) => {
    const { token } = await createInvitation(idctl.operator(), { org, email, role: 'member' });
    expect((await client.post('/api/v1/invitations/accept', { token })).status).toBe(200);
  },
  'member add': async (org, email) => {
    await addMember(idctl.operator(), { org, email, role: 'member' });
  },
  SCIM: async (org, email) => {
    const { token } = await rotateScimToken(idctl.operator(), { org });
    const found = await Organization.findOne({ where: { slug: org }, rejectOnEmpty: true });
    const path = `/scim/v2/orgs/${found.id}/Users`;
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/scim+json',
    };
    const body = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: email };
    const answer = await idctl.client().send('POST', path, { headers, body });
    expect(answer.status).toBe(201);
  },
};
