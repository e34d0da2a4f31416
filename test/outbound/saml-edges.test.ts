import { expect, test } from 'vitest';
import { generateCertifiedKey } from '../../src/crypto/certificate.ts';
import type { SamlConnection } from '../../src/outbound/saml/saml.ts';
import { verifyInThread } from '../../src/outbound/saml/thread.ts';
import { type Says, samlNow, samlProvider, swap } from '../support/saml-provider.ts';

// Security S11: what idctl accepts, at its limits.

const provider = await samlProvider();
const { requestId } = provider;
const at = (seconds: number) => new Date(samlNow.getTime() + seconds * 1000).toISOString();

const verify = (says: Says, change: Partial<SamlConnection> = {}, now = samlNow) =>
  verifyInThread({ ...provider.connection, ...change }, provider.respond(says), { requestId, now });

const more = 'http://www.w3.org/2001/04/xmldsig-more#';

test.each<[string, Says]>([
  [
    'RSA-SHA512',
    {
      signing: {
        signature: `${more}rsa-sha512`,
        digest: 'http://www.w3.org/2001/04/xmlenc#sha512',
      },
    },
  ],
  [
    'RSA-PSS with SHA-256',
    { signing: { signature: 'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1' } },
  ],
])('S11 a signature by %s is accepted', async (_name, says) => {
  expect(await verify(says)).toMatchObject({ subject: 'ada-1' });
});

test('S11 an assertion that ended 59 s ago, or begins in 60 s, is accepted: clocks differ', async () => {
  const ended = swap(`NotOnOrAfter="${at(300)}"`, `NotOnOrAfter="${at(-59)}"`);
  expect(await verify({ assertion: ended })).toMatchObject({ assertionEndsAt: new Date(at(1)) });
  await verify({ assertion: swap(`NotBefore="${at(-30)}"`, `NotBefore="${at(60)}"`) });
});

test('S11 an assertion that ends with the calendar ends at an instant that can be stored', async () => {
  const assertion = (xml: string) =>
    xml.replace(/NotOnOrAfter="[^"]*"/g, 'NotOnOrAfter="9999-12-31T23:59:59-14:00"');
  const { assertionEndsAt } = await verify({ assertion });
  expect(assertionEndsAt.toISOString()).toBe('9999-12-31T00:00:00.000Z');
});

test('S11 an expired certificate of the metadata still counts, and so does the second one', async () => {
  const expired = await generateCertifiedKey('old', new Date('1999-01-01'), 2048);
  const own = await samlProvider(expired);
  const certificates = [provider.key.certificate, expired.certificate];
  const connection = { ...own.connection, provider: { ...own.connection.provider, certificates } };
  const proof = await verifyInThread(connection, own.respond(), { requestId, now: samlNow });
  expect(proof.subject).toBe('ada-1');
});

test('S11 in a signed response, the assertion need not name the request again', async () => {
  const assertion = swap(' InResponseTo="_request1"', '');
  expect(await verify({ signs: 'response', assertion })).toMatchObject({ subject: 'ada-1' });
});

test('S11 an unsigned response may leave out its issuer and its destination', async () => {
  const response = (xml: string) =>
    xml
      .replace(/<saml:Issuer[^>]*>[^<]*<\/saml:Issuer>(?=<samlp:Status>)/, '')
      .replace(/ Destination="[^"]*"/, '');
  expect(provider.write({ response })).not.toContain('Destination');
  expect(await verify({ response })).toMatchObject({ subject: 'ada-1' });
});

test('S11 a second confirmation may hold if the first does not', async () => {
  const assertion = swap(
    '<saml:SubjectConfirmation ',
    '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"/><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData Recipient="https://other.test" NotOnOrAfter="2030-01-01T00:00:00Z"/></saml:SubjectConfirmation><saml:SubjectConfirmation ',
  );
  expect(await verify({ assertion })).toMatchObject({ subject: 'ada-1' });
});

test('S11 white space around issuer and audience, one-time use, and a list of namespaces are accepted', async () => {
  const { entityId } = provider.connection;
  const assertion = (xml: string) =>
    swap(
      '</saml:Conditions>',
      '<saml:OneTimeUse/><saml:ProxyRestriction Count="0"/></saml:Conditions>',
    )(swap(`<saml:Audience>${entityId}<`, `<saml:Audience>\n  ${entityId}\n<`)(xml));
  const after = (xml: string) => `<?xml version="1.0" encoding="UTF-8"?>\n${xml}\n`;
  expect(await verify({ assertion, after, signing: { prefixes: ['saml'] } })).toMatchObject({
    subject: 'ada-1',
  });
});

test.each([
  ['persistent', 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'],
  ['unspecified', 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified'],
  ['emailAddress', 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'],
  ['emailAddress of SAML 2.0', 'urn:oasis:names:tc:SAML:2.0:nameid-format:emailAddress'],
])('S11 a NameID of the format %s is the subject', async (_name, format) => {
  const nameId = `<saml:NameID Format="${format}">ada@acme.test</saml:NameID>`;
  expect(await verify({ nameId })).toMatchObject({ subject: 'ada@acme.test', nameId: { format } });
});

test('S11 a NameID without a format counts as unspecified', async () => {
  const proof = await verify({ nameId: '<saml:NameID>ada</saml:NameID>' });
  expect(proof).toMatchObject({
    subject: 'ada',
    nameId: { format: expect.stringMatching(/unspecified$/) },
  });
});

test('S11 subjectAttribute names the subject, by Name or FriendlyName, and needs exactly one value', async () => {
  const transient =
    '<saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:transient">_t</saml:NameID>';
  for (const subjectAttribute of ['mail', 'urn:oid:0.9.2342.19200300.100.1.3'])
    expect(await verify({ nameId: transient }, { subjectAttribute })).toMatchObject({
      subject: 'ada@acme.test',
    });
  const failure = { reason: 'subject_missing' };
  for (const subjectAttribute of ['groups', 'absent'])
    await expect(verify({}, { subjectAttribute })).rejects.toMatchObject({ failure });
});

test('S11 an attribute value with elements is left out, and one that is escaped is text', async () => {
  const attributes =
    '<saml:Attribute Name="a"><saml:AttributeValue><saml:NameID>x</saml:NameID></saml:AttributeValue>' +
    '<saml:AttributeValue>&lt;b&gt; &amp; &#65;</saml:AttributeValue><saml:AttributeValue/></saml:Attribute>';
  const proof = await verify({ attributes });
  expect(proof.attributes).toEqual([{ name: 'a', friendlyName: null, values: ['<b> & A', ''] }]);
});

test('S11 1,000 groups fit into a response', async () => {
  const values = Array.from(
    { length: 1000 },
    (_, n) => `<saml:AttributeValue>group ${n}</saml:AttributeValue>`,
  );
  const attributes = `<saml:Attribute Name="groups">${values.join('')}</saml:Attribute>`;
  expect((await verify({ attributes })).attributes[0]?.values).toHaveLength(1000);
});
