import { expect, test } from 'vitest';
import { generateCertifiedKey } from '../../src/crypto/certificate.ts';
import { verifyInThread } from '../../src/outbound/saml/thread.ts';
import type { SamlReason } from '../../src/reasons.ts';
import { fastest } from '../support/fastest.ts';
import { encoded, type Says, samlNow, samlProvider, swap } from '../support/saml-provider.ts';

// Security S11: what a hostile or broken provider can send, one fault at a time. Each response is
// right but for its fault.

const provider = await samlProvider();
const stranger = await generateCertifiedKey('stranger', samlNow, 2048);
const { connection, requestId } = provider;

const verify = (field: string, change: Partial<typeof connection> = {}) =>
  verifyInThread({ ...connection, ...change }, field, { requestId, now: samlNow });

interface Mode extends Says {
  mode: string;
  reason: SamlReason;
}

const sha1 = 'http://www.w3.org/2000/09/xmldsig#sha1';
const rsaSha1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const inclusive = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const issuer = 'https://idp.example.test/saml';
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const at = (seconds: number) => new Date(samlNow.getTime() + seconds * 1000).toISOString();
const nameId = (content: string, format = 'persistent') =>
  `<saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:${format}">${content}</saml:NameID>`;

const signatures: Mode[] = [
  { mode: 'without a signature', signs: 'nothing', reason: 'signature_missing' },
  {
    mode: 'signed with RSA-SHA1',
    signing: { signature: rsaSha1 },
    reason: 'signature_algorithm_refused',
  },
  {
    mode: 'with a SHA-1 digest',
    signing: { digest: sha1 },
    reason: 'signature_algorithm_refused',
  },
  {
    mode: "signed with HMAC, with the provider's certificate as the secret",
    signing: {
      hmac: provider.key.certificate,
      signature: 'http://www.w3.org/2000/09/xmldsig#hmac-sha1',
    },
    reason: 'signature_algorithm_refused',
  },
  {
    mode: 'whose algorithm is called toString',
    after: swap('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', 'toString'),
    reason: 'signature_algorithm_refused',
  },
  {
    mode: 'of a stranger, whose key is in KeyInfo',
    signing: { key: stranger },
    reason: 'signature_invalid',
  },
  {
    mode: 'changed after it was signed',
    after: swap('>ada-1<', '>root<'),
    reason: 'signature_invalid',
  },
  {
    mode: 'with a changed signature value',
    after: (xml) =>
      xml.replace(/(<ds:SignatureValue>)(.)/, (_, tag, first) => tag + (first === 'A' ? 'B' : 'A')),
    reason: 'signature_invalid',
  },
  {
    mode: 'with a signature over another element',
    assertion: swap('<saml:Subject>', '<saml:Subject ID="_subject1">'),
    signing: { xpath: "/*/*[local-name(.)='Subject']" },
    reason: 'signature_reference_refused',
  },
  {
    mode: 'with an empty reference',
    signing: { emptyUri: true },
    reason: 'signature_reference_refused',
  },
  {
    mode: 'with an XPath transform',
    after: swap(
      `<ds:Transform Algorithm="${enveloped}"/>`,
      `<ds:Transform Algorithm="${enveloped}"/><ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"/>`,
    ),
    reason: 'signature_malformed',
  },
  {
    mode: 'with inclusive canonicalization as a transform',
    signing: { transforms: [enveloped, inclusive] },
    reason: 'signature_transform_refused',
  },
  {
    mode: 'with the transform for a detached signature',
    signing: { transforms: [exclusive, exclusive] },
    reason: 'signature_transform_refused',
  },
  {
    mode: 'with a canonical form with comments',
    signing: { canonical: `${exclusive}WithComments` },
    reason: 'signature_transform_refused',
  },
  {
    mode: 'with content in a transform',
    after: swap(
      `<ds:Transform Algorithm="${enveloped}"/>`,
      `<ds:Transform Algorithm="${enveloped}"><ds:XPath>/</ds:XPath></ds:Transform>`,
    ),
    reason: 'signature_transform_refused',
  },
  {
    mode: 'with content in the canonicalization method',
    after: swap(
      `<ds:CanonicalizationMethod Algorithm="${exclusive}"/>`,
      `<ds:CanonicalizationMethod Algorithm="${exclusive}"><ds:XPath>/</ds:XPath></ds:CanonicalizationMethod>`,
    ),
    reason: 'signature_transform_refused',
  },
  {
    mode: 'with a long list of namespace prefixes',
    signing: { prefixes: Array.from({ length: 300 }, (_, at) => `p${at}`) },
    reason: 'signature_transform_refused',
  },
  {
    mode: 'with two references',
    after: (xml) => xml.replace(/<ds:Reference .*<\/ds:Reference>/, (one) => one + one),
    reason: 'signature_malformed',
  },
  {
    mode: 'with two signatures in one place',
    after: (xml) => xml.replace(/<ds:Signature .*<\/ds:Signature>/, (one) => one + one),
    reason: 'signature_malformed',
  },
  {
    mode: 'with an Object in the signature',
    after: swap('</ds:Signature>', '<ds:Object>x</ds:Object></ds:Signature>'),
    reason: 'signature_malformed',
  },
  {
    mode: 'with an element in the digest value',
    after: swap('<ds:DigestValue>', '<ds:DigestValue><ds:X/>'),
    reason: 'signature_malformed',
  },
  {
    mode: 'with a second signature elsewhere',
    after: (xml) => {
      const [one = ''] = /<ds:Signature .*<\/ds:Signature>/.exec(xml) ?? [];
      return xml.replace('<saml:Conditions', `<saml:Advice>${one}</saml:Advice><saml:Conditions`);
    },
    reason: 'signature_malformed',
  },
  {
    mode: 'with a broken signature around a right one',
    signs: 'both',
    after: swap('Version="2.0" IssueInstant', 'Consent="x" Version="2.0" IssueInstant'),
    reason: 'signature_invalid',
  },
  {
    mode: 'with a signature element of another namespace',
    after: (xml) =>
      xml.replaceAll('xmlns:ds="http://www.w3.org/2000/09/xmldsig#"', 'xmlns:ds="urn:x"'),
    reason: 'signature_missing',
  },
  {
    mode: 'with an id twice',
    after: swap('<samlp:Status>', '<samlp:Status ID="_assertion1">'),
    reason: 'id_repeated',
  },
  {
    mode: 'with an id twice, spelled otherwise',
    after: swap('<samlp:Status>', '<samlp:Status xml:id="_assertion1">'),
    reason: 'id_repeated',
  },
];

const shapes: Mode[] = [
  {
    mode: 'with a document type',
    after: (xml) => `<!DOCTYPE samlp:Response>${xml}`,
    reason: 'doctype_present',
  },
  {
    mode: 'with an entity',
    after: (xml) => `<!DOCTYPE r [<!ENTITY e "ada-1">]>${xml.replace('>ada-1<', '>&e;<')}`,
    reason: 'doctype_present',
  },
  {
    mode: 'with an entity that nothing declares',
    after: swap('>ada-1<', '>&e;<'),
    reason: 'malformed',
  },
  {
    mode: 'with 5,000 levels',
    after: swap(
      '</samlp:Response>',
      `${'<a>'.repeat(5000)}${'</a>'.repeat(5000)}</samlp:Response>`,
    ),
    reason: 'too_deep',
  },
  {
    mode: 'with 49 levels below the response',
    after: swap(
      '</samlp:Response>',
      `<a>${'<b c="/>">'.repeat(49)}${'</b>'.repeat(49)}</a></samlp:Response>`,
    ),
    reason: 'too_deep',
  },
  {
    mode: 'with closing tags in the wrong order',
    after: swap('<samlp:Status>', '<a><b></a></b><samlp:Status>'),
    reason: 'malformed',
  },
  {
    mode: 'with a tag that does not end',
    after: swap('<samlp:Status>', '<a b="<samlp:Status>'),
    reason: 'malformed',
  },
  ...[
    '\u0001',
    '&#0;',
    '&#x0;',
    '&#xFFFF;',
    '&#xD800;',
    '&#x110000;',
    '&#99999999;',
    '&#000000000;',
  ].map(
    (character): Mode => ({
      mode: `with the character ${JSON.stringify(character)}`,
      attributes: `<saml:Attribute Name="a"><saml:AttributeValue>${character}</saml:AttributeValue></saml:Attribute>`,
      signs: 'nothing',
      reason: 'malformed',
    }),
  ),
  {
    mode: 'that ends too early',
    after: swap('</samlp:Response>', ''),
    reason: 'malformed',
  },
  { mode: 'with text before it', after: (xml) => `x${xml}`, reason: 'malformed' },
  { mode: 'with text after it', after: (xml) => `${xml}x`, reason: 'malformed' },
  {
    mode: 'with text after its declaration',
    after: (xml) => `<?xml version="1.0"?>x${xml}`,
    reason: 'malformed',
  },
  { mode: 'with two roots', after: (xml) => `${xml}<a/>`, reason: 'malformed' },
  {
    mode: 'with more than 1,500 elements',
    after: swap('<samlp:Status>', `${'<a/>'.repeat(1500)}<samlp:Status>`),
    reason: 'too_many_elements',
  },
  {
    mode: 'with more than 3,000 attributes',
    after: swap(
      '<samlp:Status>',
      `<a ${Array.from({ length: 3001 }, (_, n) => `a${n}="x"`).join(' ')}/><samlp:Status>`,
    ),
    reason: 'too_many_elements',
  },
  {
    mode: 'larger than 256 KiB',
    after: (xml) => xml + ' '.repeat(256 * 1024 - xml.length + 1),
    reason: 'too_large',
  },
  {
    mode: 'with a CDATA section',
    nameId: nameId('<![CDATA[ada-1]]>'),
    reason: 'markup_forbidden',
  },
  {
    mode: 'with a comment in the NameID',
    nameId: nameId('ada<!-- -->-1'),
    reason: 'markup_forbidden',
  },
  {
    mode: 'with a processing instruction in the NameID',
    nameId: nameId('ada<?x y?>-1'),
    reason: 'markup_forbidden',
  },
  {
    mode: 'with an element in the NameID',
    nameId: nameId('ada<saml:X>-1</saml:X>'),
    reason: 'name_id_malformed',
  },
  {
    mode: 'with two NameIDs',
    nameId: nameId('ada-1') + nameId('root'),
    reason: 'name_id_malformed',
  },
  { mode: 'with an empty NameID', nameId: nameId(''), reason: 'name_id_malformed' },
  { mode: 'without a NameID', nameId: '', reason: 'subject_missing' },
  {
    mode: 'with a transient NameID',
    nameId: nameId('ada-1', 'transient'),
    reason: 'name_id_transient',
  },
  {
    mode: 'with a NameID of a Kerberos name',
    nameId: nameId('ada-1', 'kerberos'),
    reason: 'name_id_format_refused',
  },
  {
    mode: 'with a NameID of 256 characters',
    nameId: nameId('a'.repeat(256)),
    reason: 'subject_malformed',
  },
  {
    mode: 'with a control character in the NameID',
    nameId: nameId('ada&#9;1'),
    reason: 'subject_malformed',
  },
  {
    mode: 'whose root is a logout response',
    after: (xml) => xml.replaceAll('samlp:Response', 'samlp:LogoutResponse'),
    reason: 'not_a_response',
  },
  {
    mode: 'of another namespace',
    after: swap('urn:oasis:names:tc:SAML:2.0:protocol', 'urn:oasis:names:tc:SAML:1.0:protocol'),
    reason: 'not_a_response',
  },
  {
    mode: 'with an assertion of another namespace',
    assertion: swap('SAML:2.0:assertion', 'SAML:1.0:assertion'),
    reason: 'assertions_several',
  },
  {
    mode: 'of version 1.1',
    response: swap('ID="_response1" Version="2.0"', 'ID="_response1" Version="1.1"'),
    signs: 'response',
    reason: 'version_unsupported',
  },
  {
    mode: 'with an assertion of version 1.1',
    assertion: swap('Version="2.0"', 'Version="1.1"'),
    reason: 'version_unsupported',
  },
];

const contents: Mode[] = [
  {
    mode: 'whose status is not Success, beside an assertion',
    response: swap('status:Success', 'status:Responder'),
    reason: 'status_responder',
  },
  {
    mode: 'with a status of SAML 1.1',
    response: swap('urn:oasis:names:tc:SAML:2.0:status:Success', 'samlp:Success'),
    reason: 'status_other',
  },
  {
    mode: 'without a status',
    response: swap(/<samlp:Status>.*<\/samlp:Status>/, ''),
    reason: 'status_missing',
  },
  {
    mode: 'from another issuer',
    response: swap(issuer, 'https://evil.test'),
    reason: 'issuer_mismatch',
  },
  {
    mode: 'with an assertion of another issuer',
    assertion: swap(issuer, 'https://evil.test'),
    reason: 'issuer_mismatch',
  },
  {
    mode: 'with two issuers of the assertion',
    assertion: swap('<saml:Subject>', `<saml:Issuer>${issuer}</saml:Issuer><saml:Subject>`),
    reason: 'issuer_mismatch',
  },
  {
    mode: 'whose issuer is not an entity',
    assertion: swap('<saml:Issuer>', '<saml:Issuer Format="urn:x">'),
    reason: 'issuer_mismatch',
  },
  {
    mode: 'signed without an issuer',
    response: swap(/<saml:Issuer.*?<\/saml:Issuer>(?=<samlp:Status>)/, ''),
    signs: 'response',
    signing: { location: { reference: '/*', action: 'prepend' } },
    reason: 'issuer_mismatch',
  },
  {
    mode: 'for another destination',
    response: swap(connection.acsUrl, 'https://evil.test/acs'),
    reason: 'destination_mismatch',
  },
  {
    mode: 'signed without a destination',
    response: swap(/ Destination="[^"]*"/, ''),
    signs: 'response',
    reason: 'destination_mismatch',
  },
  {
    mode: 'for another request',
    response: swap('InResponseTo="_request1"', 'InResponseTo="_request2"'),
    reason: 'in_response_to_mismatch',
  },
  {
    mode: 'that does not name a request',
    response: swap(' InResponseTo="_request1"', ''),
    reason: 'in_response_to_mismatch',
  },
  {
    mode: 'whose unsigned part names the request',
    assertion: swap(' InResponseTo="_request1"', ''),
    reason: 'in_response_to_mismatch',
  },
  {
    mode: 'with an assertion for another request',
    assertion: swap('InResponseTo="_request1"', 'InResponseTo="_request2"'),
    reason: 'in_response_to_mismatch',
  },
  {
    mode: 'for another recipient',
    assertion: swap(`Recipient="${connection.acsUrl}"`, 'Recipient="https://evil.test/acs"'),
    reason: 'recipient_mismatch',
  },
  {
    mode: 'without a recipient',
    assertion: swap(/ Recipient="[^"]*"/, ''),
    reason: 'recipient_mismatch',
  },
  {
    mode: 'without a subject',
    assertion: swap(/<saml:Subject>.*<\/saml:Subject>/, ''),
    reason: 'subject_missing',
  },
  {
    mode: 'with two subjects',
    assertion: (xml) => xml.replace(/<saml:Subject>.*<\/saml:Subject>/, (one) => one + one),
    reason: 'subject_missing',
  },
  {
    mode: 'without a confirmation',
    assertion: swap(/<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/, ''),
    reason: 'confirmation_missing',
  },
  {
    mode: 'with holder-of-key as its only confirmation',
    assertion: swap(bearer, 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key'),
    reason: 'confirmation_missing',
  },
  {
    mode: 'whose confirmation has no data',
    assertion: swap(/<saml:SubjectConfirmationData .*?\/>/, ''),
    reason: 'confirmation_missing',
  },
  {
    mode: 'whose confirmation has no end',
    assertion: swap(/ NotOnOrAfter="[^"]*"/, ''),
    reason: 'confirmation_missing',
  },
  {
    mode: 'whose confirmation ended 60 s ago',
    assertion: swap(`NotOnOrAfter="${at(300)}"`, `NotOnOrAfter="${at(-60)}"`),
    reason: 'expired',
  },
  {
    mode: 'whose conditions ended 60 s ago',
    assertion: swap(`NotOnOrAfter="${at(600)}"`, `NotOnOrAfter="${at(-60)}"`),
    reason: 'expired',
  },
  {
    mode: 'that begins in 61 s',
    assertion: swap(`NotBefore="${at(-30)}"`, `NotBefore="${at(61)}"`),
    reason: 'not_yet_valid',
  },
  {
    mode: 'whose confirmation begins in 61 s',
    assertion: swap(
      '<saml:SubjectConfirmationData',
      `<saml:SubjectConfirmationData NotBefore="${at(61)}"`,
    ),
    reason: 'not_yet_valid',
  },
  {
    mode: 'with a time that is none',
    assertion: swap(`NotBefore="${at(-30)}"`, 'NotBefore="yesterday"'),
    reason: 'time_malformed',
  },
  {
    mode: 'for another audience',
    assertion: swap(`<saml:Audience>${connection.entityId}<`, '<saml:Audience>https://evil.test<'),
    reason: 'audience_mismatch',
  },
  {
    mode: 'without an audience',
    assertion: swap(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, ''),
    reason: 'audience_mismatch',
  },
  {
    mode: 'without conditions',
    assertion: swap(/<saml:Conditions.*<\/saml:Conditions>/, ''),
    reason: 'audience_mismatch',
  },
  {
    mode: 'with a second audience restriction for another',
    assertion: swap(
      '</saml:Conditions>',
      '<saml:AudienceRestriction><saml:Audience>https://evil.test</saml:Audience></saml:AudienceRestriction></saml:Conditions>',
    ),
    reason: 'audience_mismatch',
  },
  {
    mode: 'with an audience that contains an element',
    assertion: swap(`${connection.entityId}<`, `${connection.entityId}<saml:X/><`),
    reason: 'audience_mismatch',
  },
  {
    mode: 'with an unknown condition',
    assertion: swap('</saml:Conditions>', '<saml:Condition/></saml:Conditions>'),
    reason: 'condition_unknown',
  },
  {
    mode: 'with a condition of another namespace',
    assertion: swap('</saml:Conditions>', '<x:OneTimeUse xmlns:x="urn:x"/></saml:Conditions>'),
    reason: 'condition_unknown',
  },
  {
    mode: 'without an authentication statement',
    assertion: swap(/<saml:AuthnStatement.*<\/saml:AuthnStatement>/, ''),
    reason: 'statement_missing',
  },
  {
    mode: 'with an attribute without a name',
    attributes: '<saml:Attribute><saml:AttributeValue>x</saml:AttributeValue></saml:Attribute>',
    reason: 'attributes_malformed',
  },
  {
    mode: 'without an assertion',
    response: swap(/<saml:Assertion.*<\/saml:Assertion>/, ''),
    reason: 'assertion_missing',
  },
  {
    mode: 'without an id of the assertion',
    assertion: swap(' ID="_assertion1"', ''),
    signs: 'response',
    reason: 'id_malformed',
  },
  {
    mode: 'with an id of 256 characters',
    assertion: swap('_assertion1', '_'.repeat(256)),
    reason: 'id_malformed',
  },
  {
    mode: 'with two signed assertions',
    response: (xml) =>
      xml.replace(
        /<saml:Assertion.*<\/saml:Assertion>/,
        (one) => one + one.replaceAll('_assertion1', '_2'),
      ),
    reason: 'assertions_several',
  },
  {
    mode: 'with encryption, which is off',
    encrypting: { certificate: provider.key.certificate },
    reason: 'encryption_not_expected',
  },
];

const isRefused = async (field: string, reason: SamlReason) => {
  const failure = expect.objectContaining({ reason });
  await expect(verify(field)).rejects.toMatchObject({ code: 'provider_refused', failure });
};

test.each(signatures)(
  'S11 a response $mode is refused for its signature',
  async ({ reason, ...says }) => {
    await isRefused(provider.respond(says), reason);
  },
);

test.each(shapes)('S11 a response $mode is refused for its form', async ({ reason, ...says }) => {
  await isRefused(provider.respond(says), reason);
});

test.each(contents)(
  'S11 a response $mode is refused for what it says',
  async ({ reason, ...says }) => {
    await isRefused(provider.respond(says), reason);
  },
);

test.each([
  ['no base64', '<Response/>'],
  ['base64 that does not end', `${provider.respond()}A`],
  [
    'bytes that are not UTF-8',
    Buffer.from(
      provider.write({ after: swap('<samlp:Status>', '<a b="\u00e9"/><samlp:Status>') }),
      'latin1',
    ).toString('base64'),
  ],
  ['nothing', ''],
])('S11 a form field with %s is refused', async (_name, field) => {
  await isRefused(field, 'malformed');
});

test.each<[string, string]>([
  ['a long name', `<${'a'.repeat(250_000)}`],
  ['a long tag', `<a ${'b'.repeat(250_000)}`],
  ['many quotes', `<a ${'"'.repeat(250_000)}`],
  ['two kinds of quotes', `<a ${`"'`.repeat(125_000)}`],
  ['many closing tags', '</'.repeat(125_000)],
  ['many levels', '<a>'.repeat(80_000)],
  ['many elements', `<a>${'<b/>'.repeat(60_000)}</a>`],
  ['many references', `<a>${'&#1234567;'.repeat(25_000)}</a>`],
  ['a long declaration', `<?xml ${' '.repeat(250_000)}`],
])('S11 256 KiB with %s are refused in a few milliseconds', async (_name, xml) => {
  const refused = () =>
    expect(verify(encoded(xml))).rejects.toMatchObject({ code: 'provider_refused' });
  expect(await fastest(refused)).toBeLessThan(200);
});

test('S11 a form field larger than 256 KiB is refused before it is decoded', async () => {
  await isRefused('A'.repeat(400_000), 'too_large');
});

test('S11 a status says why the provider refused', async () => {
  const denied = swap(
    /<samlp:Status>.*<\/samlp:Status>.*(?=<\/samlp:Response>)/,
    '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Requester">' +
      '<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:RequestDenied"/></samlp:StatusCode></samlp:Status>',
  );
  await isRefused(provider.respond({ response: denied }), 'status_request_denied');
  await isRefused(
    encoded(provider.write({ response: denied }).replace('RequestDenied', 'toString')),
    'status_requester',
  );
});
