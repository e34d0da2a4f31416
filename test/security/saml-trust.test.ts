import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateCertifiedKey } from '../../src/crypto/certificate.ts';
import { Account } from '../../src/database/models/account.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { refreshSso } from '../../src/services/tenancy/sso/refresh.ts';
import { relinkSso } from '../../src/services/tenancy/sso/relink.ts';
import { fresh, person, signedIn } from '../support/builders.ts';
import { serve } from '../support/fake-server.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import {
  answerTo,
  attribute,
  postAnswer,
  providerMetadata,
  type SamlPerson,
  samlConnected,
  signInBySaml,
  startSaml,
} from '../support/saml.ts';
import { samlProvider } from '../support/saml-provider.ts';
import { enrolOwn } from '../support/two-factor.ts';

// An admin points a SAML connection at a provider of their own. The provider of the tests is theirs:
// the organization's own provider has another certificate.

let idctl: Idctl;
let hostile: string;
let honest: string;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  hostile = (await samlProvider()).key.certificate;
  honest = (await generateCertifiedKey('own', new Date('1990-01-01T00:00:00Z'), 2048)).certificate;
});
afterAll(() => idctl.close());

/** An organization with a connection, whose owner and admin may change it. */
async function company() {
  const at = await samlConnected(idctl);
  const path = `/api/v1/orgs/${at.org.slug}/sso`;
  const member = async (role: 'owner' | 'admin' | 'member') => {
    const email = `${fresh(role)}@${at.domain}`;
    await person(idctl, email);
    await addMember(idctl.operator(), { org: at.org.slug, email, role });
    return email;
  };
  const owner = await signedIn(idctl, at.org.owner.email);
  const admin = await signedIn(idctl, await member('admin'));
  const saves = (client: Client) => (body: object) =>
    client.send('PUT', path, {
      body: { kind: 'saml', emailDomain: at.domain, enabled: true, ...body },
    });
  const [put, create] = [saves(owner), saves(admin)];
  const change = (body: object) => admin.send('PATCH', path, { body });
  return { ...at, owner, path, member, put, create, change };
}

type Company = Awaited<ReturnType<typeof company>>;

/** Starts a sign-in and posts an answer to it. The browser can then come for it. */
async function kept({ org, domain }: Company, person: SamlPerson) {
  const client = idctl.client({ keepCookies: true });
  const { id, relayState } = await startSaml(client, domain);
  const response = await answerTo(idctl, { org: org.id, requestId: id, person });
  const posted = await postAnswer(idctl.client(), org.id, response, relayState);
  expect(posted.status).toBe(302);
  return { client, go: () => client.get(String(posted.headers['location'])) };
}

async function lastCode({ owner, path }: Company): Promise<string> {
  return (await owner.get(`${path}/attempts`)).body.items[0].code;
}

describe('an answer counts for the connection that verified it', () => {
  test('S11 I8 an answer that was verified under unapproved metadata does not sign in the owner after an approval', async () => {
    const at = await company();
    const boss = await at.member('owner');
    await at.put({ metadataXml: providerMetadata(honest) });
    await at.change({ metadataXml: providerMetadata(hostile) });
    const { client, go } = await kept(at, { email: boss });
    const repaired = await at.put({ metadataXml: providerMetadata(honest) });
    expect(repaired.body.approved).toBe(true);
    expect(await go()).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
    expect(await lastCode(at)).toBe('connection_changed');
    expect((await client.get('/api/v1/me')).status).toBe(401);
  });

  test('S11 I8 nor does it if the owner approves that metadata', async () => {
    const at = await company();
    const boss = await at.member('owner');
    await at.put({ metadataXml: providerMetadata(honest) });
    const { body } = await at.change({ metadataXml: providerMetadata(hostile) });
    const { go } = await kept(at, { email: boss });
    const { pointsAt } = body;
    expect((await at.owner.post(`${at.path}/approve`, { pointsAt })).status).toBe(200);
    expect((await go()).status).toBe(401);
    expect(await lastCode(at)).toBe('connection_changed');
  });

  test('S11 I8 a sign-in that waits for the second factor is refused if the metadata changes', async () => {
    const at = await company();
    const email = await at.member('member');
    const code = await enrolOwn(idctl, { email });
    await at.put({ metadataXml: providerMetadata(honest) });
    await at.change({ metadataXml: providerMetadata(hostile) });
    const { client, go } = await kept(at, { email });
    expect((await go()).body.code).toBe('second_factor_required');
    await at.put({ metadataXml: providerMetadata(honest) });
    const answer = await client.post('/api/v1/auth/second-factor', { totpCode: code() });
    expect(answer).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
  });

  test('S11 an answer that was verified with a certificate that is no longer in the metadata at the URL is refused', async () => {
    const served = { xml: providerMetadata(hostile) };
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/xml' }).end(served.xml);
    });
    const at = await company();
    await at.put({ metadataUrl: `${url}/metadata` });
    const email = await at.member('member');
    const { go: before } = await kept(at, { email, subject: 'one' });
    await refreshSso(idctl.operator(), { org: at.org.slug });
    expect((await before()).status).toBe(200);
    const { go: after } = await kept(at, { email, subject: 'one' });
    served.xml = providerMetadata(honest);
    await refreshSso(idctl.operator(), { org: at.org.slug });
    expect((await after()).status).toBe(401);
    expect(await lastCode(at)).toBe('connection_changed');
  });
});

describe('I1 a SAML provider chooses its entity ID, so this proves nothing', () => {
  test('I1 a key of OpenID Connect does not lead a SAML provider of the same name to the account, not even an approved one', async () => {
    const at = await company();
    const email = await at.member('member');
    const issuer = 'https://idp.example.test/saml';
    await at.put({ kind: 'oidc', issuer, clientId: 'c', clientSecret: 's' });
    const { id: accountId } = await Account.findOne({ where: { email }, rejectOnEmpty: true });
    const { id: connectionId } = await SsoConnection.findOne({
      where: { organizationId: at.org.id },
      rejectOnEmpty: true,
    });
    const subject = fresh('sub');
    await transaction(() =>
      Identity.create({
        ...{ id: crypto.randomUUID(), accountId, kind: 'sso', connectionId },
        ...{ organizationId: at.org.id, issuer, subject, linkedAt: new Date(), unapproved: false },
      }),
    );
    const signIn = () => signInBySaml(idctl, at, { email, subject });
    for (const approved of [false, true]) {
      const body = { kind: 'saml', metadataXml: providerMetadata(hostile) };
      const saved = approved ? await at.put(body) : await at.change(body);
      expect(saved.body).toMatchObject({ approved, entityId: issuer });
      expect((await signIn()).answer.status).toBe(401);
      expect(await lastCode(at)).toBe('identity_conflict');
    }
    const relinked = await relinkSso(idctl.operator(), { org: at.org.slug, fromIssuer: issuer });
    expect(relinked).toMatchObject({ fromIssuer: issuer, people: [email] });
    expect((await signIn()).answer.body.user.id).toBe(accountId);
  });

  test('I1 a key of the NameID does not count for an attribute, nor that of one attribute for another', async () => {
    const at = await company();
    const email = await at.member('member');
    const metadataXml = providerMetadata(hostile);
    const attributes = ['a', 'b', 'email'].map((name) =>
      attribute(name, [name === 'email' ? email : 'one']),
    );
    const signIn = async () =>
      (await signInBySaml(idctl, at, { subject: 'one', attributes: attributes.join('') })).answer;
    expect((await signIn()).status).toBe(200);
    await at.put({ metadataXml, subjectAttribute: 'a' });
    expect((await signIn()).status).toBe(401);
    expect(await lastCode(at)).toBe('identity_conflict');
    await relinkSso(idctl.operator(), {
      org: at.org.slug,
      fromIssuer: 'https://idp.example.test/saml',
    });
    expect((await signIn()).status).toBe(200);
    await at.put({ metadataXml, subjectAttribute: 'b' });
    expect((await signIn()).status).toBe(401);
  });

  test('I1 I8 an unapproved provider does not get the keys that were linked before, only its own', async () => {
    const at = await company();
    const [email, later] = [await at.member('member'), await at.member('member')];
    const signIn = async (email: string, subject: string) =>
      (await signInBySaml(idctl, at, { email, subject })).answer.status;
    expect(await signIn(email, 'one')).toBe(200);
    await at.put({ metadataXml: providerMetadata(honest) });
    const { body } = await at.change({ metadataXml: providerMetadata(hostile) });
    expect(body.approved).toBe(false);
    expect(await signIn(email, 'one')).toBe(401);
    expect(await lastCode(at)).toBe('identity_conflict');
    expect([await signIn(later, 'two'), await signIn(later, 'two')]).toEqual([200, 200]);
    // Another unapproved provider does not get the keys of the first one either.
    await at.change({ metadataXml: providerMetadata(honest) });
    await at.change({ metadataXml: providerMetadata(hostile) });
    expect(await signIn(later, 'two')).toBe(401);
    const { pointsAt } = (await at.owner.get(at.path)).body;
    expect((await at.owner.post(`${at.path}/approve`, { pointsAt })).status).toBe(200);
    expect([await signIn(email, 'one'), await signIn(later, 'two')]).toEqual([200, 200]);
    // A setting that points, but not at another provider, does not touch the keys.
    await at.put({ metadataXml: providerMetadata(hostile), requireLocalTwoFactor: true });
    const eased = await at.change({ requireLocalTwoFactor: false });
    expect(eased.body.approved).toBe(false);
    expect(await signIn(email, 'one')).toBe(200);
  });

  test('I1 I8 nor does an unapproved connection that was made again', async () => {
    const at = await company();
    const email = await at.member('member');
    const signIn = async () =>
      (await signInBySaml(idctl, at, { email, subject: 'one' })).answer.status;
    expect(await signIn()).toBe(200);
    await at.owner.send('DELETE', at.path);
    const { body } = await at.create({ metadataXml: providerMetadata(hostile) });
    expect(body.approved).toBe(false);
    expect(await signIn()).toBe(401);
    expect(await lastCode(at)).toBe('identity_conflict');
    await at.put({ metadataXml: providerMetadata(hostile) });
    expect(await signIn()).toBe(200);
  });
});
