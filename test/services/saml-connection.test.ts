import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateCertifiedKey } from '../../src/crypto/certificate.ts';
import { Event } from '../../src/database/models/event.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';
import { checkOrganizations } from '../../src/services/instance/doctor/organization.ts';
import { explain } from '../../src/services/signin/explain/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeSso } from '../../src/services/tenancy/sso/operations.ts';
import { refreshAll } from '../../src/services/tenancy/sso/refresh.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { apply, exported, plan } from '../support/documents.ts';
import { serve } from '../support/fake-server.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { providerMetadata, samlConnected, signInBySaml } from '../support/saml.ts';
import { samlProvider } from '../support/saml-provider.ts';
import { endless, unknownKey } from '../support/unusable-certificates.ts';

let idctl: Idctl;
let certificate: string;
let other: string;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1', 'idp.example.test'] } });
  certificate = (await samlProvider()).key.certificate;
  other = (await generateCertifiedKey('other', new Date('1990-01-01T00:00:00Z'), 2048)).certificate;
});
afterAll(() => idctl.close());

/** An organization with a domain, and its owner's client for the connection. */
async function founded() {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const owner = await signedIn(idctl, org.owner.email);
  const path = `/api/v1/orgs/${org.slug}/sso`;
  const put = (body: object) =>
    owner.send('PUT', path, { body: { kind: 'saml', emailDomain: domain, ...body } });
  const patch = (body: object) => owner.send('PATCH', path, { body });
  return { org, domain, owner, path, put, patch };
}

/** A provider that serves this metadata, which a test may change. */
async function serving(xml: string) {
  const served = { xml, status: 200 };
  const { url, asked } = await serve((_request, response) => {
    response.writeHead(served.status, { 'content-type': 'application/xml' }).end(served.xml);
  });
  return { served, url: `${url}/metadata`, asked };
}

const eventsOf = async (organizationId: string, kind: string) =>
  (await Event.findAll({ where: { organizationId, kind }, order: [['id', 'ASC']] })).map(
    ({ data }) => data,
  );

describe('a SAML connection', () => {
  test('is saved with the text of the metadata, and its view has what the metadata says', async () => {
    const { put, owner, path, domain } = await founded();
    const metadataXml = providerMetadata(certificate);
    const answer = await put({ metadataXml, groupsAttribute: 'teams' });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        kind: 'saml',
        emailDomain: domain,
        entityId: 'https://idp.example.test/saml',
        ssoUrl: 'https://idp.example.test/sso',
        certificates: [
          {
            fingerprint: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/),
            notAfter: expect.stringMatching(/Z$/),
          },
        ],
        metadataUrl: null,
        emailAttribute: null,
        groupsAttribute: 'teams',
        subjectAttribute: null,
        encryptAssertions: false,
        enabled: false,
        syncOnLogin: true,
      },
    });
    for (const field of ['issuer', 'clientId', 'hasClientSecret', 'groupsClaim', 'redirectUri'])
      expect(answer.body).not.toHaveProperty(field);
    expect((await owner.get(path)).body).toEqual(answer.body);
  });

  test('is saved with the metadata at a URL, which has to be right', async () => {
    const { put } = await founded();
    const { url, served } = await serving(providerMetadata(certificate));
    expect(await put({ metadataUrl: url })).toMatchObject({
      status: 200,
      body: { metadataUrl: url, entityId: 'https://idp.example.test/saml' },
    });
    served.status = 404;
    expect(await put({ metadataUrl: url })).toMatchObject({
      status: 502,
      body: { code: 'provider_failed' },
    });
    expect(await put({ metadataUrl: 'https://absent.invalid/m' })).toMatchObject({
      status: 502,
      body: {
        code: 'provider_failed',
        detail: expect.stringMatching(
          /metadata could not be used: absent.invalid cannot be resolved/,
        ),
        hint: expect.stringMatching(/metadata URL/),
        reason: 'name_not_found',
      },
    });
    const { put: putElsewhere } = await founded();
    expect((await putElsewhere({ metadataUrl: 'https://192.168.1.1/m' })).body).toMatchObject({
      code: 'outbound_refused',
    });
  });

  test.each([
    [{}, 'metadataUrl'],
    [{ metadataXml: '<a/>' }, 'metadataXml'],
    [{ metadataXml: '<!DOCTYPE a><a/>' }, 'metadataXml'],
    [{ metadataXml: 'x', metadataUrl: 'https://idp.example.test/m' }, 'metadataXml'],
    [{ metadataUrl: 'ftp://idp.example.test/m' }, 'metadataUrl'],
    [{ metadataXml: 'x', issuer: 'https://idp.example.test' }, 'issuer'],
    [{ metadataXml: 'x', emailAttribute: ' ' }, 'emailAttribute'],
    [{ kind: 'oidc', metadataXml: 'x' }, 'metadataXml'],
  ])('refuses %j at the field %s', async (body, path) => {
    const { put } = await founded();
    const answer = await put(body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map((fault: { path: string }) => fault.path)).toContain(path);
  });

  test('becomes an OpenID Connect connection and back; common settings stay', async () => {
    const { put, patch } = await founded();
    const metadataXml = providerMetadata(certificate);
    await put({ metadataXml, autoRemove: true, emailAttribute: 'x' });
    const oidc = { kind: 'oidc', issuer: 'https://idp.example.test', clientId: 'c' };
    expect((await patch(oidc)).body.errors).toMatchObject([{ path: 'clientSecret' }]);
    const changed = await patch({ ...oidc, clientSecret: 's' });
    expect(changed.body).toMatchObject({ ...oidc, autoRemove: true, hasClientSecret: true });
    expect(changed.body).not.toHaveProperty('entityId');
    const back = await patch({ kind: 'saml', metadataXml });
    expect(back.body).toMatchObject({ kind: 'saml', autoRemove: true, emailAttribute: null });
    expect((await patch({ ...oidc, clientSecret: undefined })).body.errors).toMatchObject([
      { path: 'clientSecret' },
    ]);
  });

  test('a change without metadata keeps the stored metadata; a text takes the place of a URL', async () => {
    const { put, patch } = await founded();
    const { url, asked } = await serving(providerMetadata(certificate));
    await put({ metadataUrl: url });
    expect((await patch({ groupsAttribute: 'g' })).body).toMatchObject({ metadataUrl: url });
    expect(asked).toHaveLength(1);
    const metadataXml = providerMetadata(certificate, { entityId: 'urn:acme:idp' });
    expect((await patch({ metadataXml })).body).toMatchObject({
      metadataUrl: null,
      entityId: 'urn:acme:idp',
      groupsAttribute: 'g',
    });
  });

  test('a dry run reads the metadata too, and changes nothing', async () => {
    const { owner, path, domain } = await founded();
    const { url } = await serving(providerMetadata(certificate));
    const body = { kind: 'saml', emailDomain: domain, metadataUrl: url };
    const dry = await owner.send('PUT', `${path}?dryRun=true`, { body });
    expect(dry).toMatchObject({ status: 200, body: { metadataUrl: url } });
    expect((await owner.get(path)).status).toBe(404);
  });

  test('a secret that the command line did not get is not a setting of the connection', async () => {
    const { org, domain: emailDomain } = await founded();
    const metadataXml = providerMetadata(certificate);
    const given = { org: org.slug, kind: 'saml' as const, emailDomain, metadataXml };
    const change = changeSso(idctl.operator(), { ...given, clientSecret: undefined });
    expect(await change).toMatchObject({ kind: 'saml' });
    const wrong = changeSso(idctl.operator(), { ...given, clientSecret: 'secret' });
    await expect(wrong).rejects.toThrow('clientSecret');
  });

  test('the connection test reads the metadata, names old certificates, and says what to enter', async () => {
    const { put, owner, path, org } = await founded();
    const { url, served } = await serving('');
    const ssoUrl = url;
    served.xml = providerMetadata(certificate, { ssoUrl });
    await put({ metadataUrl: url, enabled: true });
    const steps = async (body = {}) =>
      (await owner.post(`${path}/test`, body)).body.steps as {
        name: string;
        ok: boolean;
        seen: string;
        hint?: string;
      }[];
    const named = (all: Awaited<ReturnType<typeof steps>>) =>
      all.map(({ name, ok }) => `${name} ${ok}`);
    const passed = await steps();
    expect(named(passed)).toEqual([
      'metadata true',
      'entity ID true',
      'certificates true',
      'sign-in URL true',
      'registration true',
    ]);
    const acs = `${idctl.baseUrl}/auth/saml/${org.id}/acs`;
    expect(passed.at(-1)?.hint).toContain(acs);
    expect(passed[2]?.hint).toBeUndefined();
    served.xml = providerMetadata(other, { ssoUrl });
    const ended = (await steps())[2];
    expect(ended).toMatchObject({ ok: true, hint: expect.stringMatching(/ended on \d{4}-/) });
    const where = { slug: org.slug };
    const found = await Organization.findOne({ where, rejectOnEmpty: true });
    const [check] = await checkOrganizations(idctl.operator(), [found]);
    expect([check?.ok, JSON.stringify(check?.hint)]).toEqual([
      true,
      expect.stringMatching(/ended on \d{4}-/),
    ]);
    served.xml = providerMetadata(certificate, { entityId: 'urn:other' });
    expect(named(await steps())).toContain('entity ID false');
    served.status = 500;
    expect(named(await steps())).toEqual(['metadata false']);
    const given = await steps({ metadataXml: providerMetadata(certificate) });
    expect(named(given)).toContain('metadata true');
    expect(named(given)).not.toContain('entity ID true');
  });

  test('the metadata of idctl is there before any connection, and has its ACS', async () => {
    const { org } = await founded();
    const at = `/auth/saml/${org.id}`;
    const answer = await idctl.client().get(`${at}/metadata`);
    expect([answer.status, answer.headers['content-type']]).toEqual([
      200,
      'application/samlmetadata+xml; charset=utf-8',
    ]);
    expect(answer.body).toContain(`entityID="${idctl.baseUrl}${at}/metadata"`);
    expect(answer.body).toContain(`Location="${idctl.baseUrl}${at}/acs"`);
    const none = '/auth/saml/0198c0de-0000-7000-8000-000000000000/metadata';
    expect((await idctl.client().get(none)).status).toBe(404);
  });

  test('S11 a stranger who has a slug learns nothing: only the id of an organization is accepted', async () => {
    const { org } = await founded();
    const known = await idctl.client().get(`/auth/saml/${org.slug}/metadata`);
    const unknown = await idctl.client().get('/auth/saml/no-such-organization/metadata');
    expect([known.status, unknown.status]).toEqual([404, 404]);
    const bare = ({ body }: typeof known) => ({ ...body, instance: '', requestId: '' });
    expect(bare(known)).toEqual(bare(unknown));
    const post = (at: string) => idctl.client().form(`/auth/saml/${at}/acs`, { SAMLResponse: 'x' });
    expect([(await post(org.slug)).status, (await post('no-such-organization')).status]).toEqual([
      404, 404,
    ]);
  });
});

/** The context of the daemon's job after some hours. */
function later(hours: number) {
  const operator = idctl.operator();
  const now = new Date(operator.now.getTime() + hours * 3600 * 1000);
  return { ...operator, now, actor: { kind: 'system' as const, name: 'test' } };
}

const withCertificate = (bare: string) =>
  providerMetadata(certificate).replace(/<X509Certificate>[^<]*/, `<X509Certificate>${bare}`);

describe('S11 metadata at a URL is read again', () => {
  test('S11 new certificates are taken from the URL, with an event, and the approval stays', async () => {
    const { put, owner, path, org } = await founded();
    const { url, served } = await serving(providerMetadata(certificate));
    await put({ metadataUrl: url });
    const before = (await owner.get(path)).body;
    expect(before.approved).toBe(true);
    expect((await owner.post(`${path}/refresh`)).body).toMatchObject({ approved: true });
    expect(await eventsOf(org.id, 'sso.metadata.changed')).toEqual([]);
    served.xml = providerMetadata(other);
    const after = (await owner.post(`${path}/refresh`)).body;
    expect(after.certificates).not.toEqual(before.certificates);
    expect(after).toMatchObject({ approved: true, pointsAt: before.pointsAt });
    expect(await eventsOf(org.id, 'sso.metadata.changed')).toEqual([
      {
        ssoUrl: 'https://idp.example.test/sso',
        added: [after.certificates[0].fingerprint],
        removed: [before.certificates[0].fingerprint],
      },
    ]);
  });

  test('I8 another entity ID is refused with an event', async () => {
    const { put, owner, path, org } = await founded();
    const { url, served } = await serving(providerMetadata(certificate));
    await put({ metadataUrl: url });
    served.xml = providerMetadata(other, { entityId: 'urn:other' });
    const answer = await owner.post(`${path}/refresh`);
    expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
    expect((await owner.get(path)).body.entityId).toBe('https://idp.example.test/saml');
    expect(await eventsOf(org.id, 'sso.metadata.refused')).toHaveLength(1);
  });

  test('S11 the daemon reads it every day; a provider that fails keeps the stored metadata', async () => {
    const { put, owner, path, org } = await founded();
    const { url, served, asked } = await serving(providerMetadata(certificate));
    await put({ metadataUrl: url });
    served.xml = providerMetadata(other);
    await refreshAll(later(23));
    expect(asked).toHaveLength(1);
    await refreshAll(later(25));
    expect(asked).toHaveLength(2);
    expect(await eventsOf(org.id, 'sso.metadata.changed')).toHaveLength(1);
    served.status = 500;
    const stored = (await owner.get(path)).body;
    await refreshAll(later(50));
    expect((await owner.get(path)).body).toEqual(stored);
    expect(await eventsOf(org.id, 'sso.provider.failed')).toMatchObject([
      { stage: 'metadata', reason: 'unexpected_status' },
    ]);
  });

  test('S11 a certificate that cannot be used is a fault of the field', async () => {
    const { put } = await founded();
    for (const change of [unknownKey, endless]) {
      const answer = await put({ metadataXml: withCertificate(change(certificate)) });
      expect([answer.status, answer.body.errors?.[0].path]).toEqual([400, 'metadataXml']);
    }
  });

  test('S11 a provider that fails is asked once a day, and does not keep others from their turn', async () => {
    const [hostile, honest] = [await founded(), await founded()];
    const broken = await serving(providerMetadata(certificate));
    const right = await serving(providerMetadata(certificate));
    await hostile.put({ metadataUrl: broken.url });
    await honest.put({ metadataUrl: right.url });
    broken.served.xml = withCertificate(unknownKey(certificate));
    right.served.xml = providerMetadata(other);
    // A row that an earlier version stored may be broken too.
    const third = await founded();
    const spoilt = await serving(providerMetadata(certificate));
    await third.put({ metadataUrl: spoilt.url });
    await transaction(() =>
      SsoConnection.update({ metadata: null }, { where: { organizationId: third.org.id } }),
    );
    await expect(refreshAll(later(25))).rejects.toThrow('1 pieces of work failed');
    expect(await eventsOf(honest.org.id, 'sso.metadata.changed')).toHaveLength(1);
    expect(await eventsOf(hostile.org.id, 'sso.provider.failed')).toMatchObject([
      { stage: 'metadata', reason: 'certificate_unusable' },
    ]);
    await refreshAll(later(26));
    expect([broken.asked.length, right.asked.length, spoilt.asked.length]).toEqual([2, 2, 2]);
    await refreshAll(later(50)).catch(() => {});
    expect(broken.asked).toHaveLength(3);
    await transaction(() => SsoConnection.destroy({ where: { organizationId: third.org.id } }));
  });

  test('metadata that was given as text cannot be read again', async () => {
    const { put, owner, path } = await founded();
    await put({ metadataXml: providerMetadata(certificate) });
    expect((await owner.post(`${path}/refresh`)).body.code).toBe('conflict');
  });
});

describe('I8 a SAML connection that an admin pointed elsewhere', () => {
  async function admined() {
    const at = await founded();
    const email = `${fresh('adam')}@${at.domain}`;
    await person(idctl, email);
    await addMember(idctl.operator(), { org: at.org.slug, email, role: 'admin' });
    const admin = await signedIn(idctl, email);
    const change = async (body: object) =>
      (await admin.send('PATCH', at.path, { body })).body.approved;
    return { ...at, change };
  }

  test.each([
    [
      'the entity ID',
      () => ({ metadataXml: providerMetadata(certificate, { entityId: 'urn:o' }) }),
    ],
    ['the certificates of a text', () => ({ metadataXml: providerMetadata(other) })],
    [
      'the sign-in URL of a text',
      () => ({
        metadataXml: providerMetadata(certificate, { ssoUrl: 'https://idp.example.test/o' }),
      }),
    ],
    ['the e-mail attribute', () => ({ emailAttribute: 'x' })],
    ['the subject attribute', () => ({ subjectAttribute: 'x' })],
  ])('I8 %s points: the change waits for an owner', async (_, body) => {
    const { put, change } = await admined();
    await put({ metadataXml: providerMetadata(certificate) });
    expect(await change({ metadataXml: providerMetadata(certificate) })).toBe(true);
    expect(await change(body())).toBe(false);
  });

  test('I8 the metadata URL points; groups and encryption do not', async () => {
    const { put, change } = await admined();
    const [one, two] = [
      await serving(providerMetadata(certificate)),
      await serving(providerMetadata(certificate)),
    ];
    await put({ metadataUrl: one.url });
    expect(await change({ groupsAttribute: 'g', encryptAssertions: true })).toBe(true);
    expect(await change({ metadataUrl: two.url })).toBe(false);
  });

  test('I8 another kind points', async () => {
    const { put, change } = await admined();
    await put({ metadataXml: providerMetadata(certificate) });
    const oidc = { kind: 'oidc', issuer: 'https://idp.example.test', clientId: 'c' };
    expect(await change({ ...oidc, clientSecret: 's' })).toBe(false);
    await put({ ...oidc, clientSecret: 's' });
    expect(await change({ kind: 'saml', metadataXml: providerMetadata(certificate) })).toBe(false);
  });

  test('I8 an unapproved connection signs in no owner, and its event says so', async () => {
    const at = await samlConnected(idctl);
    await transaction(() =>
      SsoConnection.update({ approved: false }, { where: { organizationId: at.org.id } }),
    );
    const owner = `${fresh('olga')}@${at.domain}`;
    await person(idctl, owner);
    await addMember(idctl.operator(), { org: at.org.slug, email: owner, role: 'owner' });
    const refused = await signInBySaml(idctl, at, { email: owner });
    expect(refused.answer).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
    expect(await eventsOf(at.org.id, 'sso.owner.refused')).toHaveLength(1);
    const member = await signInBySaml(idctl, at, { email: `${fresh('mia')}@${at.domain}` });
    expect(member.answer.status).toBe(200);
  });
});

describe('a document with a SAML connection', () => {
  test.each(['text', 'URL'])(
    'an export with a %s plans no change, and makes the same elsewhere',
    async (by) => {
      const { put, org, domain } = await founded();
      const { url, asked } = await serving(providerMetadata(certificate));
      const from =
        by === 'URL' ? { metadataUrl: url } : { metadataXml: providerMetadata(certificate) };
      const saved = (await put({ ...from, groupsAttribute: 'g' })).body;
      const operator = idctl.operator();
      const { sso } = await exported(operator, org.slug);
      expect(sso).toMatchObject({ kind: 'saml', emailDomain: domain, groupsAttribute: 'g' });
      const same = { idctl: 1, sso };
      expect((await plan(operator, org.slug, same)).changes).toEqual([]);
      const empty = await organization(idctl);
      const elsewhere = { idctl: 1, sso: { ...(sso as object), emailDomain: 'new.test' } };
      await apply(operator, empty.slug, elsewhere);
      const made = await SsoConnection.findOne({ where: { organizationId: empty.id } });
      expect(made).toMatchObject({ kind: 'saml', issuer: saved.entityId, groupsAttribute: 'g' });
      expect(asked).toHaveLength(by === 'URL' ? 2 : 0);
      expect((await plan(operator, empty.slug, elsewhere)).changes).toEqual([]);
    },
  );

  test('a plan names changed metadata, and the apply takes it; wrong metadata is a fault of the document', async () => {
    const { put, org, domain } = await founded();
    await put({ metadataXml: providerMetadata(certificate) });
    const operator = idctl.operator();
    const sso = { kind: 'saml', emailDomain: domain, metadataXml: providerMetadata(other) };
    const planned = await plan(operator, org.slug, { idctl: 1, sso });
    expect(planned.changes).toMatchObject([
      { section: 'sso', action: 'change', fields: [{ field: 'metadataXml', changed: true }] },
    ]);
    await apply(operator, org.slug, { idctl: 1, sso });
    expect((await plan(operator, org.slug, { idctl: 1, sso })).changes).toEqual([]);
    const wrong = { ...sso, metadataXml: '<a/>' };
    await expect(plan(operator, org.slug, { idctl: 1, sso: wrong })).rejects.toMatchObject({
      faults: [{ path: 'document.sso.metadataXml' }],
    });
  });

  test('S10 a document that makes it OpenID Connect needs the secret', async () => {
    const { put, org, domain } = await founded();
    await put({ metadataXml: providerMetadata(certificate) });
    const sso = { emailDomain: domain, issuer: 'https://idp.example.test', clientId: 'c' };
    const document = { idctl: 1, sso: { ...sso, clientSecret: { unchanged: true } } };
    await expect(plan(idctl.operator(), org.slug, document)).rejects.toMatchObject({
      code: 'secret_required',
    });
    const given = { idctl: 1, sso: { ...sso, clientSecret: { value: 's' } } };
    await apply(idctl.operator(), org.slug, given);
    const stored = await SsoConnection.findOne({ where: { organizationId: org.id } });
    expect(stored).toMatchObject({ kind: 'oidc', metadata: null });
  });
});

describe('explain', () => {
  test('explain says whether a person can sign in through a SAML provider, and why not', async () => {
    const at = await samlConnected(idctl);
    const email = `${fresh('ada')}@${at.domain}`;
    await signInBySaml(idctl, at, { email });
    const explained = async () => {
      const { ways } = await explain(idctl.operator(), { org: at.org.slug, user: email });
      const way = ways.find(({ method }) => method === 'sso');
      return [way?.on, way?.could];
    };
    expect(await explained()).toEqual([true, true]);
    const metadataXml = providerMetadata(certificate, { entityId: 'urn:other' });
    const change = { org: at.org.slug, metadataXml };
    await changeSso(idctl.operator(), changeSso.input.parse(change));
    expect(await explained()).toEqual([true, false]);
  });
});
