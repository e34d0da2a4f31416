import { verify, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { SamlAnswer } from '../../src/database/models/saml-answer.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { relinkSso } from '../../src/services/tenancy/sso/relink.ts';
import { fresh, person, signedIn } from '../support/builders.ts';
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
import { sweepNow } from '../support/sweep.ts';
import { enrolOwn } from '../support/two-factor.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ http: { returnToOrigins: ['https://app.test'] } });
});
afterAll(() => idctl.close());

type Connected = Awaited<ReturnType<typeof samlConnected>>;

const signIn = (at: Connected, person: SamlPerson, more?: Parameters<typeof signInBySaml>[3]) =>
  signInBySaml(idctl, at, person, more);

async function attemptsOf({ org }: Connected) {
  const owner = await signedIn(idctl, org.owner.email);
  return (await owner.get(`/api/v1/orgs/${org.slug}/sso/attempts`)).body.items;
}

describe('a sign-in by SAML', () => {
  test('S11 a person of the provider signs in, and their groups give roles', async () => {
    const at = await samlConnected(idctl);
    const operator = idctl.operator();
    const project = await createProject(operator, { org: at.org.slug, name: 'Web' });
    const mapping = { group: 'staff', project: project.slug, role: 'member' as const };
    await addMapping(operator, { org: at.org.slug, ...mapping });
    const email = `${fresh('ada')}@${at.domain}`;
    const { client, answer } = await signIn(at, { email, groups: ['staff', 'admins'] });
    expect(answer).toMatchObject({ status: 200, body: { user: { email } } });
    const { organizations } = (await client.get('/api/v1/me')).body;
    expect(organizations).toMatchObject([
      { slug: at.org.slug, role: 'member', projects: [{ role: 'member', synced: true }] },
    ]);
    const [attempt] = await attemptsOf(at);
    expect(attempt).toMatchObject({
      ok: true,
      stage: 'session',
      email,
      groups: ['staff', 'admins'],
    });
  });

  test('the subject identifies the person, whatever the address is later', async () => {
    const at = await samlConnected(idctl);
    const subject = fresh('sub');
    const [first, second] = [`${fresh('a')}@${at.domain}`, `${fresh('b')}@${at.domain}`];
    const before = await signIn(at, { subject, email: first });
    const after = await signIn(at, { subject, email: second });
    expect(after.answer.body.user.id).toBe(before.answer.body.user.id);
  });

  test.each(['/projects?q=1', 'https://app.test/home', `/${'x'.repeat(300)}`])(
    'the person goes to returnTo after the sign-in: %s',
    async (returnTo) => {
      const at = await samlConnected(idctl);
      const query = `&returnTo=${encodeURIComponent(returnTo)}`;
      const client = idctl.client({ keepCookies: true });
      const { id, relayState } = await startSaml(client, at.domain, query);
      const person = { email: `${fresh('a')}@${at.domain}` };
      const response = await answerTo(idctl, { org: at.org.id, requestId: id, person });
      const posted = await postAnswer(idctl.client(), at.org.id, response, relayState);
      const page = { accept: 'text/html' };
      const arrived = await client.get(String(posted.headers['location']), page);
      expect([arrived.status, arrived.headers['location']]).toEqual([302, returnTo]);
    },
  );

  test('S7 a RelayState that idctl did not make leads to the start page', async () => {
    const at = await samlConnected(idctl);
    const client = idctl.client({ keepCookies: true });
    const { id } = await startSaml(client, at.domain);
    const person = { email: `${fresh('a')}@${at.domain}` };
    const response = await answerTo(idctl, { org: at.org.id, requestId: id, person });
    const forged = `${'A'.repeat(22)}https://evil.test/`;
    const posted = await postAnswer(idctl.client(), at.org.id, response, forged);
    const page = { accept: 'text/html' };
    const arrived = await client.get(String(posted.headers['location']), page);
    expect([arrived.status, arrived.headers['location']]).toEqual([302, '/']);
  });

  test.each([
    [
      'Entra ID',
      (email: string) =>
        attribute('http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress', [email]) +
        attribute('http://schemas.microsoft.com/ws/2008/06/identity/claims/groups', ['g1']) +
        attribute('http://schemas.microsoft.com/identity/claims/displayname', ['Ada L']),
    ],
    [
      'AD FS',
      (email: string) =>
        attribute('http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress', [email]) +
        attribute('http://schemas.xmlsoap.org/claims/Group', ['g1']) +
        attribute('http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname', ['Ada']) +
        attribute('http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname', ['L']),
    ],
    [
      'Okta',
      (email: string) =>
        attribute('email', [email]) +
        attribute('groups', ['g1']) +
        attribute('firstName', ['Ada']) +
        attribute('lastName', ['L']),
    ],
    [
      'Google',
      (email: string) =>
        attribute('Email', [email]) +
        attribute('Groups', ['g1']) +
        attribute('displayName', ['Ada L']),
    ],
    [
      'eduPerson by name',
      (email: string) =>
        attribute('urn:oid:0.9.2342.19200300.100.1.3', [email]) +
        attribute('urn:oid:1.3.6.1.4.1.5923.1.5.1.1', ['g1']) +
        attribute('urn:oid:2.16.840.1.113730.3.1.241', ['Ada L']),
    ],
    [
      'eduPerson by friendly name',
      (email: string) =>
        attribute('urn:x:1', [email], 'mail') +
        attribute('urn:x:2', ['g1'], 'isMemberOf') +
        attribute('urn:x:3', ['Ada L'], 'displayName'),
    ],
  ])('without names of attributes, those of %s are read', async (_, attributes) => {
    const at = await samlConnected(idctl);
    const email = `${fresh('ada')}@${at.domain}`;
    const { answer } = await signIn(at, { attributes: attributes(email) });
    expect(answer.body.user).toMatchObject({ email, name: 'Ada L' });
    expect((await attemptsOf(at))[0]).toMatchObject({ groups: ['g1'] });
  });

  test('the attributes that the connection names are read, and no others', async () => {
    const named = { emailAttribute: 'address', groupsAttribute: 'teams' };
    const at = await samlConnected(idctl, named);
    const email = `${fresh('ada')}@${at.domain}`;
    const others = attribute('email', [`other@${at.domain}`]) + attribute('groups', ['no']);
    const own = attribute('address', [email]) + attribute('urn:x', ['yes'], 'teams');
    const { answer } = await signIn(at, { attributes: others + own });
    expect(answer.body.user.email).toBe(email);
    expect((await attemptsOf(at))[0]).toMatchObject({ groups: ['yes'] });
    const without = await signIn(at, { attributes: others });
    expect(without.answer.status).toBe(401);
  });

  test('if no attribute has the address, a NameID that is an address counts', async () => {
    const at = await samlConnected(idctl);
    const email = `${fresh('ada')}@${at.domain}`;
    const format = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
    const nameId = `<saml:NameID Format="${format}">${email}</saml:NameID>`;
    const { answer } = await signIn(
      at,
      { attributes: attribute('x', ['y']) },
      { says: { nameId } },
    );
    expect(answer.body.user.email).toBe(email);
  });

  test('S11 exactly one address has to be on the domain of the connection', async () => {
    const at = await samlConnected(idctl);
    const [one, other] = [`${fresh('a')}@${at.domain}`, `${fresh('b')}@${at.domain}`];
    const cases: [string | string[], string | null][] = [
      [[one, 'ada@elsewhere.test', one.toUpperCase()], null],
      [[one, other], 'email_several'],
      ['ada@elsewhere.test', 'email_domain_differs'],
      [[], 'email_missing'],
      ['not an address', 'email_malformed'],
    ];
    for (const [email, code] of cases) {
      const { answer } = await signIn(at, { email });
      expect(answer.status, String(email)).toBe(code === null ? 200 : 401);
      if (code !== null) expect((await attemptsOf(at))[0]).toMatchObject({ ok: false, code });
    }
  });

  test('I7 without a groups attribute the groups are unknown, or there are none if the connection says so', async () => {
    const email = (domain: string) => `${fresh('a')}@${domain}`;
    const unknown = await samlConnected(idctl);
    await signIn(unknown, { email: email(unknown.domain) });
    expect((await attemptsOf(unknown))[0]).not.toHaveProperty('groups');
    const link = attribute('http://schemas.microsoft.com/claims/groups.link', ['https://graph']);
    await signIn(unknown, { attributes: attribute('mail', [email(unknown.domain)]) + link });
    expect((await attemptsOf(unknown))[0]).toMatchObject({ ok: true, groups: null });
    await signIn(unknown, { email: email(unknown.domain), groups: [] });
    expect((await attemptsOf(unknown))[0]).toMatchObject({ ok: true, groups: [] });
  });
});

describe('S11 requests and encryption', () => {
  test('S11 a request does not name a NameIDPolicy or a RequestedAuthnContext, and is signed where the metadata wants it', async () => {
    const { key } = await samlProvider();
    const plain = await samlConnected(idctl);
    const first = await startSaml(idctl.client(), plain.domain);
    expect(first.request).not.toMatch(/NameIDPolicy|RequestedAuthnContext/);
    expect(first.url.searchParams.has('Signature')).toBe(false);
    const wants = { wantsSignedRequests: true };
    const metadataXml = providerMetadata(key.certificate, wants);
    const signing = await samlConnected(idctl, { metadataXml });
    const { url } = await startSaml(idctl.client(), signing.domain);
    const [signed = '', signature = ''] = url.search.slice(1).split('&Signature=');
    const metadata = (await idctl.client().get(`/auth/saml/${signing.org.id}/metadata`)).body;
    const [, certificate = ''] = /<[^>]*X509Certificate>([^<]+)</.exec(metadata) ?? [];
    const { publicKey } = new X509Certificate(Buffer.from(certificate, 'base64'));
    const bytes = Buffer.from(decodeURIComponent(signature), 'base64');
    expect(verify('sha256', Buffer.from(signed), publicKey, bytes)).toBe(true);
  });

  test('S11 a provider that takes only HTTP-POST gets the request by a form of a page', async () => {
    const { key } = await samlProvider();
    const metadataXml = providerMetadata(key.certificate, { binding: 'post' });
    const at = await samlConnected(idctl, { metadataXml });
    const client = idctl.client({ keepCookies: true });
    const start = await client.get(`/auth/sso/start?domain=${at.domain}&returnTo=/x`);
    const url = new URL(start.body.authorizationUrl);
    const page = await client.get(url.pathname + url.search, { accept: 'text/html' });
    expect(page.body).toContain('action="https://idp.example.test/sso"');
    expect(page.headers['content-security-policy']).toContain(
      "form-action 'self' https://app.test https://idp.example.test",
    );
    const [, field = ''] = /name="SAMLRequest" value="([^"]+)"/.exec(page.body) ?? [];
    const request = Buffer.from(field, 'base64').toString();
    const [, id = ''] = / ID="([^"]+)"/.exec(request) ?? [];
    expect(id).toBe(url.searchParams.get('request'));
    const person = { email: `${fresh('a')}@${at.domain}` };
    const response = await answerTo(idctl, { org: at.org.id, requestId: id, person });
    const posted = await postAnswer(idctl.client(), at.org.id, response);
    expect((await client.get(String(posted.headers['location']))).status).toBe(200);
    const made = new URLSearchParams({ org: at.org.id, request: '_made-up' });
    const refused = await client.get(`${url.pathname}?${made}`, { accept: 'text/html' });
    expect(refused.status).toBe(401);
  });

  test('S11 the metadata has a key for encryption only if the connection takes encrypted assertions', async () => {
    const someone = ({ domain }: Connected) => ({ email: `${fresh('a')}@${domain}` });
    const encryption = async ({ org }: Connected) => {
      const { body } = await idctl.client().get(`/auth/saml/${org.id}/metadata`);
      const [, key] = /use="encryption".*?X509Certificate>([^<]+)</s.exec(body) ?? [];
      return key && new X509Certificate(Buffer.from(key, 'base64')).toString();
    };
    const off = await samlConnected(idctl);
    expect(await encryption(off)).toBeUndefined();
    const on = await samlConnected(idctl, { encryptAssertions: true });
    const certificate = (await encryption(on)) ?? '';
    const says = { encrypting: { certificate } };
    expect((await signIn(on, someone(on), { says })).answer.status).toBe(200);
    expect((await signIn(off, someone(off), { says })).answer.status).toBe(401);
    expect((await attemptsOf(off))[0]).toMatchObject({ code: 'encryption_not_expected' });
  });
});

describe('P12 the second factor', () => {
  test.each([true, false])(
    'P12 the own second factor is asked for if the connection says so: %s',
    async (requireLocalTwoFactor) => {
      const at = await samlConnected(idctl, { requireLocalTwoFactor });
      const email = `${fresh('a')}@${at.domain}`;
      const subject = fresh('sub');
      await enrolOwn(idctl, await person(idctl, email));
      const { answer } = await signIn(at, { email, subject });
      expect(answer.body).toMatchObject(
        requireLocalTwoFactor ? { code: 'second_factor_required' } : { user: { email } },
      );
    },
  );
});

describe('relinking', () => {
  test('I1 after a change of provider, relink by entity ID frees the accounts', async () => {
    const at = await samlConnected(idctl);
    const email = `${fresh('a')}@${at.domain}`;
    const first = await signIn(at, { email });
    const other = await signIn(at, { email });
    expect(other.answer.status).toBe(401);
    expect((await attemptsOf(at))[0]).toMatchObject({ code: 'identity_conflict' });
    const relinked = await relinkSso(idctl.operator(), {
      org: at.org.slug,
      fromIssuer: 'https://idp.example.test/saml',
    });
    expect(relinked).toMatchObject({ people: [email], issuer: 'https://idp.example.test/saml' });
    const again = await signIn(at, { email });
    expect(again.answer.body.user.id).toBe(first.answer.body.user.id);
  });
});

describe('S11 the answer belongs to a start', () => {
  test('S11 an answer without a start, or to that of another connection, is refused', async () => {
    const [at, other] = [await samlConnected(idctl), await samlConnected(idctl)];
    const { id } = await startSaml(idctl.client({ keepCookies: true }), other.domain);
    for (const requestId of [id, '_made-up', `_${'A'.repeat(91)}`]) {
      const person = { email: `${fresh('a')}@${at.domain}` };
      const response = await answerTo(idctl, { org: at.org.id, requestId, person });
      const posted = await postAnswer(idctl.client(), at.org.id, response);
      expect([posted.status, posted.cookies]).toEqual([401, []]);
    }
    expect(await SamlAnswer.count()).toBe(0);
  });

  test('S11 a start lives for ten minutes, and takes one answer', async () => {
    const at = await samlConnected(idctl);
    const person = { email: `${fresh('a')}@${at.domain}` };
    const { id } = await startSaml(idctl.client({ keepCookies: true }), at.domain);
    const answer = () => answerTo(idctl, { org: at.org.id, requestId: id, person });
    const [first, second] = [await answer(), await answer()];
    expect((await postAnswer(idctl.client(), at.org.id, first)).status).toBe(302);
    expect((await postAnswer(idctl.client(), at.org.id, second)).status).toBe(401);
    const late = await startSaml(idctl.client({ keepCookies: true }), at.domain);
    idctl.wait(601);
    const response = await answerTo(idctl, { org: at.org.id, requestId: late.id, person });
    expect((await postAnswer(idctl.client(), at.org.id, response)).status).toBe(401);
    idctl.wait(-601);
  });

  test('S11 only the browser in which the sign-in began gets the session, and only once', async () => {
    const at = await samlConnected(idctl);
    const browser = idctl.client({ keepCookies: true });
    const { id } = await startSaml(browser, at.domain);
    const person = { email: `${fresh('a')}@${at.domain}` };
    const response = await answerTo(idctl, { org: at.org.id, requestId: id, person });
    const posted = await postAnswer(idctl.client(), at.org.id, response);
    expect(posted.cookies).toEqual([]);
    const to = String(posted.headers['location']);
    const stranger = idctl.client({ keepCookies: true });
    await startSaml(stranger, at.domain);
    for (const other of [idctl.client(), stranger]) {
      const { status, body } = await other.get(to);
      expect([status, body.code]).toEqual([401, 'signin_failed']);
    }
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.get(to)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
  });

  test('S11 two tabs of one browser have two starts', async () => {
    const at = await samlConnected(idctl);
    const client = idctl.client({ keepCookies: true });
    const first = await startSaml(client, at.domain);
    const second = await startSaml(client, at.domain);
    for (const { id } of [second, first]) {
      const person = { email: `${fresh('a')}@${at.domain}` };
      const response = await answerTo(idctl, { org: at.org.id, requestId: id, person });
      const posted = await postAnswer(idctl.client(), at.org.id, response);
      expect((await client.get(String(posted.headers['location']))).status).toBe(200);
    }
  });

  test('S11 each assertion ID proves once, until it ends', async () => {
    const at = await samlConnected(idctl);
    const email = `${fresh('a')}@${at.domain}`;
    const id = fresh('_same');
    const says = { assertion: (xml: string) => xml.replace(/ ID="_a[^"]*"/, ` ID="${id}"`) };
    expect((await signIn(at, { email }, { says })).answer.status).toBe(200);
    expect((await signIn(at, { email }, { says })).answer.status).toBe(401);
    expect((await attemptsOf(at))[0]).toMatchObject({ ok: false, code: 'answer_replayed' });
    const other = await samlConnected(idctl);
    const there = { email: `${fresh('a')}@${other.domain}` };
    expect((await signIn(other, there, { says })).answer.status).toBe(200);
  });

  test('S6 a connection that was changed, switched off or removed meanwhile refuses the answer', async () => {
    const provider = await samlProvider();
    const pathOf = ({ org }: Connected) => `/api/v1/orgs/${org.slug}/sso`;
    const changes: ((at: Connected) => Promise<unknown>)[] = [
      async (at) => (await signedIn(idctl, at.org.owner.email)).post(`${pathOf(at)}/disable`),
      async (at) => (await signedIn(idctl, at.org.owner.email)).send('DELETE', pathOf(at)),
      async (at) =>
        (await signedIn(idctl, at.org.owner.email)).send('PATCH', pathOf(at), {
          body: {
            metadataXml: providerMetadata(provider.key.certificate, { entityId: 'urn:other' }),
          },
        }),
    ];
    for (const change of changes) {
      const at = await samlConnected(idctl);
      const client = idctl.client({ keepCookies: true });
      const { id } = await startSaml(client, at.domain);
      const person = { email: `${fresh('a')}@${at.domain}` };
      const response = await answerTo(idctl, { org: at.org.id, requestId: id, person });
      const posted = await postAnswer(idctl.client(), at.org.id, response);
      await change(at);
      const { status, body } = await client.get(String(posted.headers['location']));
      expect([status, body.code]).toEqual([401, 'signin_failed']);
    }
  });

  test('a refused answer shows the sign-in page, and the attempt says why', async () => {
    const at = await samlConnected(idctl);
    const { posted } = await signIn(
      at,
      { email: `${fresh('a')}@${at.domain}` },
      { says: { signs: 'nothing' } },
    );
    expect(posted.status).toBe(401);
    expect(posted.body).toContain('You could not be signed in.');
    const [attempt] = await attemptsOf(at);
    expect(attempt).toMatchObject({ ok: false, code: 'signature_missing' });
    expect(await Account.count({ where: { email: attempt.email ?? '' } })).toBe(0);
  });

  test('S11 the ACS takes the post of another site; other routes refuse it', async () => {
    const at = await samlConnected(idctl);
    const headers = { origin: 'https://idp.example.test', 'sec-fetch-site': 'cross-site' };
    const refused = await idctl.client().post('/api/v1/auth/login', {}, headers);
    expect(refused.body.code).toBe('origin_refused');
    const { status, body } = await idctl
      .client()
      .form(`/auth/saml/${at.org.id}/acs`, { SAMLResponse: 'x' }, headers);
    expect([status, body.code]).toEqual([401, 'signin_failed']);
  });

  test('S11 the ACS takes 512 KiB', async () => {
    const at = await samlConnected(idctl);
    const post = (length: number) =>
      idctl.client().form(`/auth/saml/${at.org.id}/acs`, { SAMLResponse: 'x'.repeat(length) });
    expect((await post(512 * 1024 - 13)).status).toBe(401);
    expect((await post(512 * 1024)).status).toBe(413);
  });

  test('the sweep deletes answers that no browser came for', async () => {
    const at = await samlConnected(idctl);
    const { id } = await startSaml(idctl.client(), at.domain);
    const person = { email: `${fresh('a')}@${at.domain}` };
    const response = await answerTo(idctl, { org: at.org.id, requestId: id, person });
    await postAnswer(idctl.client(), at.org.id, response);
    expect(await SamlAnswer.count()).toBeGreaterThan(0);
    idctl.wait(601);
    await sweepNow(idctl.operator());
    expect(await SamlAnswer.count()).toBe(0);
    idctl.wait(-601);
  });
});
