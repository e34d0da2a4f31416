import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateCertifiedKey } from '../../src/crypto/certificate.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { refreshSso } from '../../src/services/tenancy/sso/refresh.ts';
import { fresh, person, signedIn } from '../support/builders.ts';
import { serve } from '../support/fake-server.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import {
  answerTo,
  postAnswer,
  providerMetadata,
  type SamlPerson,
  samlConnected,
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
  const put = (body: object) =>
    owner.send('PUT', path, {
      body: { kind: 'saml', emailDomain: at.domain, enabled: true, ...body },
    });
  const change = (body: object) => admin.send('PATCH', path, { body });
  return { ...at, owner, path, member, put, change };
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

  test('S11 an answer that was verified with a certificate that the metadata at the URL has no more is refused', async () => {
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
