import { X509Certificate } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { generateCertifiedKey } from '../../src/crypto/certificate.ts';
import { readMetadata } from '../../src/outbound/saml/metadata.ts';
import { type Change, samlNow, samlProvider, swap } from '../support/saml-provider.ts';
import { endless, unknownKey } from '../support/unusable-certificates.ts';

const { key } = await samlProvider();
const weak = await generateCertifiedKey('weak', samlNow, 1024);
const other = await generateCertifiedKey('other', samlNow, 2048);
const bare = (pem: string) => pem.replace(/-----.*-----|\s/g, '');
const keyDescriptor = (pem: string, use = ' use="signing"') =>
  `<KeyDescriptor${use}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>\n${bare(pem)}\n</ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor>`;
const service = (binding: string, location: string) =>
  `<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:${binding}" Location="${location}"/>`;
const metadata = `<?xml version="1.0" encoding="UTF-8"?>
<!-- The provider -->
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example.test/saml">
  <IDPSSODescriptor WantAuthnRequestsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    ${keyDescriptor(key.certificate)}${keyDescriptor(weak.certificate, '')}${keyDescriptor(other.certificate, ' use="encryption"')}
    ${service('SOAP', 'https://idp.example.test/soap')}
    ${service('HTTP-POST', 'https://idp.example.test/post')}
    ${service('HTTP-Redirect', 'https://idp.example.test/redirect')}
  </IDPSSODescriptor>
</EntityDescriptor>`;

test('metadata gives the entity, the redirect address before the other, and the signing certificates', () => {
  expect(readMetadata(metadata)).toEqual({
    entityId: 'https://idp.example.test/saml',
    ssoUrl: 'https://idp.example.test/redirect',
    binding: 'redirect',
    wantsSignedRequests: true,
    certificates: [
      {
        pem: key.certificate,
        fingerprint: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/),
        notAfter: new Date('2046-01-01T00:00:00Z'),
      },
    ],
  });
});

test('metadata may offer HTTP-POST only, want no signature, and stand alone in a list', () => {
  const read = readMetadata(
    metadata
      .replace('WantAuthnRequestsSigned="true" ', '')
      .replace('bindings:HTTP-Redirect', 'bindings:other')
      .replace(
        /<EntityDescriptor [^>]*>/,
        (tag) => `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${tag}`,
      )
      .replace('</EntityDescriptor>', '</EntityDescriptor></EntitiesDescriptor>'),
  );
  expect(read).toMatchObject({
    binding: 'post',
    ssoUrl: 'https://idp.example.test/post',
    wantsSignedRequests: false,
  });
});

const entityId = (id: string) => swap(/entityID="[^"]*"/, `entityID="${id}"`);
const entity = /<EntityDescriptor.*<\/EntityDescriptor>/s;

test.each<[string, Change, string]>([
  ['a document type', (xml) => xml.replace('<!--', '<!DOCTYPE a><!--'), 'doctype_present'],
  ['an entity', (xml) => `<!DOCTYPE a [<!ENTITY b "c">]>${xml}`, 'doctype_present'],
  ['a processing instruction', swap('<IDPSSO', '<?a b?><IDPSSO'), 'markup_forbidden'],
  ['a comment that does not end', swap('-->', ''), 'malformed'],
  ['an HTML page', () => '<html><body>Sign in</body></html>', 'not_metadata'],
  ['JSON', () => '{}', 'malformed'],
  ['nothing', () => '', 'malformed'],
  ['60 levels', swap('</IDPSSO', `${'<a>'.repeat(60)}${'</a>'.repeat(60)}</IDPSSO`), 'too_deep'],
  ['more than 1 MiB', swap('<IDPSSO', `${' '.repeat(1024 * 1024)}<IDPSSO`), 'too_large'],
  [
    'a service provider only',
    (xml) => xml.replaceAll('IDPSSODescriptor', 'SPSSODescriptor'),
    'not_a_provider',
  ],
  ['a provider of SAML 1.1', swap('SAML:2.0:protocol', 'SAML:1.1:protocol'), 'not_metadata'],
  ['another namespace', swap('SAML:2.0:metadata', 'SAML:1.0:metadata'), 'not_metadata'],
  ['no entity ID', swap(/ entityID="[^"]*"/, ''), 'entity_missing'],
  ['an entity ID of 1,025 characters', entityId('a'.repeat(1025)), 'entity_missing'],
  ...['\u202e', '\u200b', '\u00e9', ' '].map((hidden): [string, Change, string] => [
    `an entity ID with ${JSON.stringify(hidden)}`,
    entityId(`https://idp.example.test/${hidden}saml`),
    'entity_missing',
  ]),
  ...[
    'https://idp.example.test@evil.test/',
    'https://:secret@evil.test/',
    'https://a;b.test/',
    'https://a,b.test/',
    "https://a'b.test/",
    'https://idp.example.test\u2215evil.test/',
    `https://idp.example.test/${'a'.repeat(2000)}`,
  ].map((url): [string, Change, string] => [
    `the address ${url.slice(0, 50)}`,
    swap('https://idp.example.test/redirect', url),
    'endpoint_insecure',
  ]),
  [
    'two providers',
    (xml) => {
      const [one = ''] = entity.exec(xml) ?? [];
      return `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${one}${one}</EntitiesDescriptor>`;
    },
    'entities_several',
  ],
  ['no address', (xml) => xml.replace(/<SingleSignOnService.*>/g, ''), 'endpoint_missing'],
  [
    'an address that is none',
    swap('https://idp.example.test/redirect', 'javascript:alert(1)'),
    'endpoint_insecure',
  ],
  [
    'no certificate',
    (xml) => xml.replace(/<KeyDescriptor.*?<\/KeyDescriptor>/gs, ''),
    'certificate_missing',
  ],
  [
    'a certificate that is none',
    (xml) => xml.replace(bare(key.certificate), 'AAAA'),
    'certificate_unusable',
  ],
  [
    'a certificate with a key of an unknown kind',
    (xml) => xml.replace(bare(key.certificate), unknownKey(key.certificate)),
    'certificate_unusable',
  ],
  [
    'a certificate whose end is not a date',
    (xml) => xml.replace(bare(key.certificate), endless(key.certificate)),
    'certificate_unusable',
  ],
  [
    'a key of 1024 bits only',
    (xml) => xml.replace(bare(key.certificate), bare(weak.certificate)),
    'certificate_weak',
  ],
])('S11 metadata is refused: %s', (_name, change, reason) => {
  expect(() => readMetadata(change(metadata))).toThrow(
    expect.objectContaining({ code: 'provider_failed', failure: { stage: 'metadata', reason } }),
  );
});

test('S11 a certificate whose end is not a date is refused, whatever date Node makes of it', () => {
  // Node made this one of month 13, from memory that nothing had written. It does so now and then.
  const made = vi.spyOn(X509Certificate.prototype, 'validToDate', 'get');
  onTestFinished(() => made.mockRestore());
  made.mockReturnValue(new Date(5304322680308000));
  const broken = metadata.replace(bare(key.certificate), endless(key.certificate));
  expect(() => readMetadata(broken)).toThrow(
    expect.objectContaining({ failure: { stage: 'metadata', reason: 'certificate_unusable' } }),
  );
});
