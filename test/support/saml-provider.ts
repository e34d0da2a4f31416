import {
  constants,
  createCipheriv,
  publicEncrypt,
  randomBytes,
  X509Certificate,
} from 'node:crypto';
import { SignedXml } from 'xml-crypto';
import { type CertifiedKey, generateCertifiedKey } from '../../src/crypto/certificate.ts';
import type { SamlConnection } from '../../src/outbound/saml/saml.ts';

// A SAML provider that signs whatever a test asks for.

const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';

/** Changes a text. */
export type Change = (xml: string) => string;

/** How to sign. Everything else is as SAML wants it. */
interface Signing {
  key?: CertifiedKey;
  signature?: string;
  digest?: string;
  canonical?: string;
  transforms?: string[];
  /** Signs with HMAC, with this secret. */
  hmac?: string;
  /** An XPath to the signed element. */
  xpath?: string;
  emptyUri?: boolean;
  /** A list of namespaces for the canonical form. */
  prefixes?: string[];
  /** Where the signature stands; after the Issuer unless given. */
  location?: { reference: string; action: 'prepend' };
}

/** How to encrypt the assertion. */
export interface Encrypting {
  certificate: string;
  content?: string;
  transport?: string;
  /** Further elements of the key's EncryptionMethod. */
  method?: string;
  oaepHash?: string;
  padding?: number;
  /** Changes the ciphertext. */
  damage?: (cipher: Buffer) => Buffer;
}

/** What the response says. */
export interface Says {
  signs?: 'assertion' | 'response' | 'both' | 'nothing';
  /** Changes the assertion before it is signed. */
  assertion?: Change;
  /** Changes the response before it is signed, and after the assertion was signed. */
  response?: Change;
  /** Changes the response after everything was signed. */
  after?: Change;
  signing?: Signing;
  encrypting?: Encrypting;
  /** Elements that replace the NameID. */
  nameId?: string;
  attributes?: string;
  now?: Date;
}

/** Replaces the first `from`; fails if there is none. */
export const swap =
  (from: string | RegExp, to: string): Change =>
  (xml) => {
    const changed = xml.replace(from, () => to);
    if (changed === xml) throw new Error(`nothing to replace: ${from}`);
    return changed;
  };

export interface SamlProvider {
  key: CertifiedKey;
  /** The connection of the tests, with this provider. */
  connection: SamlConnection;
  requestId: string;
  /** The form field of a response. */
  respond(says?: Says): string;
  /** The response as XML. */
  write(says?: Says): string;
}

let shared: Promise<CertifiedKey> | undefined;

/** A provider for the pure tests. All of them share one key, because making one takes long. */
export async function samlProvider(key?: CertifiedKey): Promise<SamlProvider> {
  shared ??= generateCertifiedKey('provider', new Date('2026-01-01T00:00:00Z'), 2048);
  const own = key ?? (await shared);
  const connection: SamlConnection = {
    tenant: 'acme',
    provider: { entityId: 'https://idp.example.test/saml', certificates: [own.certificate] },
    entityId: 'https://id.example.test/auth/saml/acme/metadata',
    acsUrl: 'https://id.example.test/auth/saml/acme/acs',
    subjectAttribute: null,
    decryptionKeys: [],
  };
  const provider: Omit<SamlProvider, 'respond' | 'write'> = {
    key: own,
    connection,
    requestId: '_request1',
  };
  const write = (says: Says = {}) => writeResponse(provider, says);
  return { ...provider, write, respond: (says) => encoded(write(says)) };
}

/** A text as a form field. */
export function encoded(xml: string): string {
  return Buffer.from(xml).toString('base64');
}

/** The instant of the tests. */
export const samlNow = new Date('2026-11-20T10:00:00Z');

type Of = Omit<SamlProvider, 'respond' | 'write'>;

function writeResponse({ key, connection, requestId }: Of, says: Says): string {
  const signs = says.signs ?? 'assertion';
  const now = says.now ?? samlNow;
  const written = (says.assertion ?? same)(writeAssertion(connection, requestId, says, now));
  const signing = { key, ...says.signing };
  const isSigned = signs === 'assertion' || signs === 'both';
  const assertion = isSigned ? signed(written, says.signing?.xpath ?? '/*', signing) : written;
  const inner =
    says.encrypting === undefined ? assertion : encryptedAssertion(assertion, says.encrypting);
  const response = (says.response ?? same)(
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_response1" Version="2.0" ` +
      `IssueInstant="${now.toISOString()}" Destination="${connection.acsUrl}" InResponseTo="${requestId}">` +
      `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${connection.provider.entityId}</saml:Issuer>` +
      `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>` +
      `${inner}</samlp:Response>`,
  );
  const isWhole = signs === 'response' || signs === 'both';
  return (says.after ?? same)(isWhole ? signed(response, '/*', signing) : response);
}

const same: Change = (xml) => xml;

function writeAssertion(
  { provider, entityId, acsUrl }: SamlConnection,
  requestId: string,
  says: Says,
  now: Date,
): string {
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString();
  const nameId =
    says.nameId ??
    '<saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">ada-1</saml:NameID>';
  const attributes =
    says.attributes ??
    '<saml:Attribute Name="urn:oid:0.9.2342.19200300.100.1.3" FriendlyName="mail"><saml:AttributeValue>ada@acme.test</saml:AttributeValue></saml:Attribute>' +
      '<saml:Attribute Name="groups"><saml:AttributeValue>staff</saml:AttributeValue><saml:AttributeValue>admins</saml:AttributeValue></saml:Attribute>';
  return (
    `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_assertion1" Version="2.0" IssueInstant="${at(0)}">` +
    `<saml:Issuer>${provider.entityId}</saml:Issuer>` +
    `<saml:Subject>${nameId}` +
    '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">' +
    `<saml:SubjectConfirmationData InResponseTo="${requestId}" Recipient="${acsUrl}" NotOnOrAfter="${at(300)}"/>` +
    '</saml:SubjectConfirmation></saml:Subject>' +
    `<saml:Conditions NotBefore="${at(-30)}" NotOnOrAfter="${at(600)}"><saml:AudienceRestriction>` +
    `<saml:Audience>${entityId}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${at(-5)}" SessionIndex="_s1"><saml:AuthnContext>` +
    '<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef>' +
    '</saml:AuthnContext></saml:AuthnStatement>' +
    `<saml:AttributeStatement>${attributes}</saml:AttributeStatement></saml:Assertion>`
  );
}

/** The document with a signature over one element, placed after its Issuer. */
function signed(xml: string, xpath: string, signing: Signing & { key: CertifiedKey }): string {
  const { key, hmac } = signing;
  const one = new SignedXml({
    privateKey: hmac ?? key.privateKey,
    publicCert: key.certificate,
    signatureAlgorithm: signing.signature ?? rsaSha256,
    canonicalizationAlgorithm: signing.canonical ?? exclusive,
  });
  if (hmac !== undefined) one.enableHMAC();
  one.addReference({
    xpath,
    transforms: signing.transforms ?? [enveloped, exclusive],
    digestAlgorithm: signing.digest ?? sha256,
    inclusiveNamespacesPrefixList: signing.prefixes ?? [],
    isEmptyUri: signing.emptyUri ?? false,
  });
  one.computeSignature(xml, {
    prefix: 'ds',
    location: signing.location ?? { reference: "/*/*[local-name(.)='Issuer']", action: 'after' },
  });
  return one.getSignedXml();
}

const ivBytes = (content: string) =>
  content.endsWith('gcm') ? 12 : content.includes('triple') ? 8 : 16;

/** Encrypts as XML Encryption says, with node:crypto. */
function encryptedAssertion(assertion: string, how: Encrypting): string {
  const content = how.content ?? 'http://www.w3.org/2009/xmlenc11#aes256-gcm';
  const transport = how.transport ?? 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p';
  const name = content.includes('tripledes')
    ? 'des-ede3-cbc'
    : content.replace(/^.*#aes(\d+)-(\w+)$/, 'aes-$1-$2');
  const key = randomBytes(name === 'des-ede3-cbc' ? 24 : Number(/\d{3}/.exec(name)?.[0]) / 8);
  const iv = randomBytes(ivBytes(name === 'des-ede3-cbc' ? 'triple' : content));
  const cipher = createCipheriv(name, key, iv);
  const bytes = Buffer.concat([cipher.update(assertion, 'utf8'), cipher.final()]);
  const tag = 'getAuthTag' in cipher && content.endsWith('gcm') ? tagOf(cipher) : Buffer.alloc(0);
  const sealed = (how.damage ?? ((all) => all))(Buffer.concat([iv, bytes, tag]));
  const padding = how.padding ?? constants.RSA_PKCS1_OAEP_PADDING;
  const { publicKey } = new X509Certificate(how.certificate);
  const wrapped = publicEncrypt({ key: publicKey, padding, oaepHash: how.oaepHash ?? 'sha1' }, key);
  return (
    '<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">' +
    '<xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" Type="http://www.w3.org/2001/04/xmlenc#Element">' +
    `<xenc:EncryptionMethod Algorithm="${content}"/>` +
    '<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><xenc:EncryptedKey>' +
    `<xenc:EncryptionMethod Algorithm="${transport}">${how.method ?? ''}</xenc:EncryptionMethod>` +
    `<xenc:CipherData><xenc:CipherValue>${wrapped.toString('base64')}</xenc:CipherValue></xenc:CipherData>` +
    '</xenc:EncryptedKey></ds:KeyInfo>' +
    `<xenc:CipherData><xenc:CipherValue>${sealed.toString('base64')}</xenc:CipherValue></xenc:CipherData>` +
    '</xenc:EncryptedData></saml:EncryptedAssertion>'
  );
}

function tagOf(cipher: object): Buffer {
  // Only GCM reaches this line.
  return (cipher as import('node:crypto').CipherGCM).getAuthTag();
}
