import { constants, createPrivateKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { generateCertifiedKey } from '../../src/crypto/certificate.ts';
import { Refusal } from '../../src/errors.ts';
import { verifyInThread } from '../../src/outbound/saml/thread.ts';
import { verifyResponse } from '../../src/outbound/saml/verify.ts';
import { fastest } from '../support/fastest.ts';
import {
  type Encrypting,
  type Says,
  samlNow,
  samlProvider,
  swap,
} from '../support/saml-provider.ts';

// Security S11, encrypted assertions. All organizations share the key of the instance.

const provider = await samlProvider();
const ours = await generateCertifiedKey('idctl', samlNow, 2048);
const other = await generateCertifiedKey('other', samlNow, 2048);
const { requestId } = provider;

const keyOf = (pem: string) => createPrivateKey(pem);
const verify = (says: Says, keys = [ours.privateKey]) => {
  const connection = { ...provider.connection, decryptionKeys: keys.map(keyOf) };
  return verifyInThread(connection, provider.respond(says), { requestId, now: samlNow });
};
const with11 = 'http://www.w3.org/2009/xmlenc11#';
const xmlenc = 'http://www.w3.org/2001/04/xmlenc#';
const to = (how: Partial<Encrypting> = {}): Encrypting => ({
  certificate: ours.certificate,
  ...how,
});
const cbc = { content: `${xmlenc}aes128-cbc` };
const sha1 = '<ds:DigestMethod Algorithm="http://www.w3.org/2000/09/xmldsig#sha1"/>';
const sha256 = `<ds:DigestMethod Algorithm="${xmlenc}sha256"/>`;
const mgf = (hash: string) => `<x:MGF xmlns:x="${with11}" Algorithm="${with11}mgf1${hash}"/>`;
const oaep11 = { transport: `${with11}rsa-oaep`, oaepHash: 'sha256' };

test.each<[string, Says]>([
  ['AES-256-GCM, a signed assertion', { encrypting: to() }],
  ['AES-128-GCM, a signed assertion', { encrypting: to({ content: `${with11}aes128-gcm` }) }],
  ['AES-256-GCM, a signed response', { signs: 'response', encrypting: to() }],
  ['AES-128-CBC in a signed response', { signs: 'response', encrypting: to(cbc) }],
  [
    'AES-256-CBC, both signed',
    { signs: 'both', encrypting: to({ content: `${xmlenc}aes256-cbc` }) },
  ],
  ['a named SHA-1 of OAEP', { encrypting: to({ method: sha1 }) }],
  ['OAEP of XML Encryption 1.1', { encrypting: to({ ...oaep11, method: sha256 + mgf('sha256') }) }],
  [
    'the key beside the data',
    {
      encrypting: to(),
      response: (xml) => {
        const [key = ''] = /<xenc:EncryptedKey>.*<\/xenc:EncryptedKey>/.exec(xml) ?? [];
        const moved = key
          .replaceAll('xenc:', 'e:')
          .replace('<e:EncryptedKey>', `<e:EncryptedKey xmlns:e="${xmlenc}">`);
        return xml
          .replace(key, '')
          .replace('</saml:EncryptedAssertion>', `${moved}</saml:EncryptedAssertion>`);
      },
    },
  ],
])('S11 an encrypted assertion is accepted: %s', async (_name, says) => {
  expect(await verify(says)).toMatchObject({ subject: 'ada-1', assertionId: '_assertion1' });
});

test('S11 an assertion for the former key is decrypted during a rotation', async () => {
  const proof = await verify({ encrypting: to() }, [other.privateKey, ours.privateKey]);
  expect(proof.subject).toBe('ada-1');
});

test('S11 a connection that takes encrypted assertions takes others too', async () => {
  expect(await verify({})).toMatchObject({ subject: 'ada-1' });
});

const damage = (says: Says): Says => ({
  ...says,
  after: (xml) => xml.replace(/(<xenc:CipherValue>)(....)/g, '$1AAAA'),
});

test.each<[string, Says, string]>([
  ['AES-CBC without a signed response', { encrypting: to(cbc) }, 'encryption_algorithm_refused'],
  [
    'triple DES',
    { signs: 'response', encrypting: to({ content: `${xmlenc}tripledes-cbc` }) },
    'encryption_algorithm_refused',
  ],
  [
    'RSA with PKCS #1 1.5',
    {
      encrypting: to({
        transport: `${xmlenc}rsa-1_5`,
        padding: constants.RSA_PKCS1_PADDING,
      }),
    },
    'encryption_algorithm_refused',
  ],
  [
    'OAEP with two hashes',
    { encrypting: to({ ...oaep11, method: sha256 + mgf('sha1') }) },
    'encryption_algorithm_refused',
  ],
  [
    'OAEP with parameters',
    { encrypting: to({ method: `<xenc:OAEPparams>AA==</xenc:OAEPparams>` }) },
    'encryption_algorithm_refused',
  ],
  [
    'two keys',
    {
      encrypting: to(),
      response: (xml) =>
        xml.replace(/<xenc:EncryptedKey>.*<\/xenc:EncryptedKey>/, (key) => key + key),
    },
    'malformed',
  ],
  [
    'AES-CBC in a response whose signature is broken',
    {
      signs: 'response',
      encrypting: to(cbc),
      after: swap('ID="_response1"', 'Consent="x" ID="_response1"'),
    },
    'signature_invalid',
  ],
  [
    'two of them',
    {
      encrypting: to(),
      response: (xml) =>
        xml.replace(/<saml:EncryptedAssertion.*<\/saml:EncryptedAssertion>/, (one) => one + one),
    },
    'assertions_several',
  ],
])(
  'S11 an encrypted assertion is refused before it is decrypted: %s',
  async (_name, says, reason) => {
    const failure = { stage: 'response', reason };
    await expect(verify(says)).rejects.toMatchObject({ code: 'provider_refused', failure });
  },
);

test('S11 every failure after decryption looks and lasts alike', async () => {
  const unsigned: Says = { signs: 'nothing', encrypting: to() };
  const covered: Says = { signs: 'response' };
  const flip = (place: number) => (bytes: Buffer) => {
    bytes[bytes.length + place] = (bytes.at(place) ?? 0) ^ 1;
    return bytes;
  };
  const failures: [string, Says][] = [
    ['for another key', { encrypting: to({ certificate: other.certificate }) }],
    ['damaged', damage({ encrypting: to() })],
    ['with another tag', { encrypting: to({ damage: flip(-1) }) }],
    ['with another padding', { ...covered, encrypting: to({ ...cbc, damage: flip(-17) }) }],
    [
      'with a shorter text',
      { ...covered, encrypting: to({ ...cbc, damage: (all) => all.subarray(0, 32) }) },
    ],
    ['that is not XML', { ...covered, assertion: () => 'secret', encrypting: to(cbc) }],
    [
      'with a document type',
      { ...covered, assertion: (xml) => `<!DOCTYPE a>${xml}`, encrypting: to() },
    ],
    ['not signed', unsigned],
    ['changed', { encrypting: to(), assertion: swap('>ada-1<', '>root<'), signs: 'nothing' }],
    ['of another issuer', { encrypting: to(), assertion: swap('https://idp.', 'https://evil.') }],
    [
      'for another audience',
      { encrypting: to(), assertion: swap('acme/metadata', 'other/metadata') },
    ],
    ['expired', { encrypting: to(), now: new Date('2026-11-20T08:00:00Z') }],
  ];
  const told = new Set<string>();
  const times: number[] = [];
  for (const [name, says] of failures) {
    let quickest = Number.POSITIVE_INFINITY;
    // A busy machine adds to the time, so another attempt may be quicker.
    for (let attempt = 0; attempt < 5 && quickest >= 1000; attempt += 1) {
      const began = performance.now();
      const refusal = await verify(says).catch((error: unknown) => error);
      quickest = Math.min(quickest, performance.now() - began);
      if (!(refusal instanceof Refusal)) throw new Error(`${name} was accepted`);
      const { code, message, hint, extra, failure } = refusal;
      told.add(JSON.stringify({ code, message, hint, extra, failure }));
    }
    times.push(quickest);
  }
  expect([...told]).toHaveLength(1);
  expect([...told][0]).toContain('assertion_unusable');
  expect(Math.min(...times)).toBeGreaterThan(245);
  // The wait is long enough for every failure.
  expect(Math.max(...times)).toBeLessThan(1000);
});

test('S11 the time of a failure after decryption begins at its decryption, however long the response took before', async () => {
  const extensions = `<samlp:Extensions>${'<samlp:a b="c"/>'.repeat(1300)}</samlp:Extensions>`;
  const field = provider.respond({
    signs: 'response',
    response: swap('<samlp:Status>', `${extensions}<samlp:Status>`),
    encrypting: to({ certificate: other.certificate }),
  });
  const times: number[] = [];
  const whole = await fastest(() => {
    const connection = { ...provider.connection, decryptionKeys: [keyOf(ours.privateKey)] };
    const refused = verifyResponse(connection, field, { requestId, now: samlNow });
    if (!('unusable' in refused)) throw new Error('the assertion was accepted');
    times.push(refused.took);
  });
  expect(Math.min(...times)).toBeLessThan(whole / 2);
});
