import { X509Certificate } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import type { MetadataReason } from '../../reasons.ts';
import { isPlainHost } from '../../text/address.ts';
import { escapedHtml } from '../../text/escape.ts';
import { isProviderId } from '../../text/unseen.ts';
import { providerFailed } from '../provider-refusal.ts';
import { attributeOf, childrenNamed, isNamed, parseXml } from './document.ts';
import { MarkupFault, withoutComments } from './markup.ts';
import { bindings, ns } from './names.ts';
import type { OurMetadata, SamlCertificate, SamlMetadata } from './saml.ts';

/** The maximum number of bytes of metadata. */
const maxBytes = 1024 * 1024;
const maxCertificates = 20;

/** Reads a provider's metadata; see `Saml`. The caller decides on a plain http address. */
export function readMetadata(text: string): SamlMetadata {
  const entity = entityOf(parsed(text));
  const entityId = attributeOf(entity, 'entityID') ?? '';
  if (!isProviderId(entityId) || entityId.includes(' ')) throw refused('entity_missing');
  const [provider, ...more] = providersOf(entity);
  if (provider === undefined || more.length > 0) throw refused('not_metadata');
  return {
    entityId,
    ...endpointOf(provider),
    certificates: certificatesOf(provider),
    wantsSignedRequests: /^(?:true|1)$/.test(
      attributeOf(provider, 'WantAuthnRequestsSigned') ?? '',
    ),
  };
}

const hints: Partial<Record<MetadataReason, string>> = {
  not_a_provider: 'Give the metadata of your provider, not that of idctl.',
  entities_several:
    'The file describes several providers. Ask the provider for its own metadata, with one entity.',
  endpoint_missing:
    'idctl needs a single sign-on address with the binding HTTP-Redirect or HTTP-POST.',
  endpoint_insecure:
    'The single sign-on address must use https, with a plain host name and without a user.',
  certificate_missing: 'idctl needs the certificate that the provider signs with.',
  certificate_unusable:
    'Give the provider a new signing certificate, with an RSA key of 2048 bits or more.',
  certificate_weak: 'Give the provider a signing certificate with an RSA key of 2048 bits or more.',
};

function refused(reason: MetadataReason, cause?: unknown) {
  const hint =
    hints[reason] ??
    "Use the provider's SAML 2.0 metadata. Its root element is EntityDescriptor, with an IDPSSODescriptor.";
  return providerFailed('metadata', reason, words[reason], { hint, cause });
}

const words: Record<MetadataReason, string> = {
  too_large: 'it is larger than 1 MiB',
  malformed: 'it is not well-formed XML',
  doctype_present: 'it has a document type declaration',
  markup_forbidden: 'it has processing instructions or CDATA sections',
  too_deep: 'its elements are nested too deep',
  too_many_elements: 'it has too many elements',
  not_a_provider: 'it describes an application, not an identity provider',
  not_metadata: 'it does not describe one SAML 2.0 identity provider',
  entity_missing: 'it has no entity ID of 1 to 1,024 printable ASCII characters',
  entities_several: 'it describes several identity providers',
  endpoint_missing: 'it has no single sign-on address that idctl can use',
  endpoint_insecure: 'its single sign-on address is not a valid https URL',
  certificate_missing: 'it has no signing certificate',
  certificate_unusable: 'one of its signing certificates cannot be read',
  certificate_weak: 'its signing certificates do not have an RSA key of 2048 bits or more',
};

function parsed(text: string): Element {
  try {
    return parseXml(withoutComments(text.replace(/^\uFEFF/, '')).trim(), maxBytes);
  } catch (error) {
    if (error instanceof MarkupFault) throw refused(error.reason, error);
    throw error;
  }
}

/** The one identity provider: the root, or the only one in a list. */
function entityOf(root: Element): Element {
  const isList = isNamed(root, ns.metadata, 'EntitiesDescriptor');
  const entities = isList
    ? childrenNamed(root, ns.metadata, 'EntityDescriptor')
    : [root].filter((element) => isNamed(element, ns.metadata, 'EntityDescriptor'));
  const [entity, ...more] = entities.filter((one) => providersOf(one).length > 0);
  if (entity === undefined)
    throw refused(isOfApplication(entities) ? 'not_a_provider' : 'not_metadata');
  if (more.length > 0) throw refused('entities_several');
  return entity;
}

/** Whether this is the metadata of an application, such as idctl: the page shows its URL too. */
function isOfApplication(entities: Element[]): boolean {
  return entities.some((one) => childrenNamed(one, ns.metadata, 'SPSSODescriptor').length > 0);
}

function providersOf(entity: Element): Element[] {
  return childrenNamed(entity, ns.metadata, 'IDPSSODescriptor').filter((one) =>
    (attributeOf(one, 'protocolSupportEnumeration') ?? '').split(/\s+/).includes(ns.protocol),
  );
}

function endpointOf(provider: Element): Pick<SamlMetadata, 'ssoUrl' | 'binding'> {
  const services = childrenNamed(provider, ns.metadata, 'SingleSignOnService');
  for (const binding of ['redirect', 'post'] as const) {
    const service = services.find((one) => attributeOf(one, 'Binding') === bindings[binding]);
    if (service === undefined) continue;
    const ssoUrl = attributeOf(service, 'Location') ?? '';
    const url = URL.parse(ssoUrl);
    const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.hash === '';
    const hasUser = url?.username !== '' || url.password !== '';
    if (!isWeb || hasUser || !isPlainHost(url.hostname) || !/^[\x21-\x7e]{1,2000}$/.test(ssoUrl))
      throw refused('endpoint_insecure');
    return { ssoUrl, binding };
  }
  throw refused('endpoint_missing');
}

function certificatesOf(provider: Element): SamlCertificate[] {
  const keys = childrenNamed(provider, ns.metadata, 'KeyDescriptor').filter(
    (key) => (attributeOf(key, 'use') ?? 'signing') === 'signing',
  );
  const within = (parents: Element[], name: string) =>
    parents.flatMap((parent) => childrenNamed(parent, ns.signature, name));
  const texts = within(within(within(keys, 'KeyInfo'), 'X509Data'), 'X509Certificate').map(
    (element) => Array.from(element.childNodes, (node) => node.nodeValue ?? '').join(''),
  );
  if (texts.length === 0 || texts.length > maxCertificates) throw refused('certificate_missing');
  const found = new Map<string, SamlCertificate>();
  for (const text of texts) {
    const certificate = readCertificate(text);
    if (certificate !== null) found.set(certificate.fingerprint, certificate);
  }
  if (found.size === 0) throw refused('certificate_weak');
  return [...found.values()];
}

/**
 * Reads a certificate; null if its key is too weak. Refuses one that Node cannot use: for a key of an
 * unknown kind, Node throws. For an end that is not a date, `validTo` says so in words, while
 * `validToDate` may be any date, because Node then reads memory that nothing has written.
 */
function readCertificate(text: string): SamlCertificate | null {
  try {
    const certificate = new X509Certificate(Buffer.from(text, 'base64'));
    if (!isStrong(certificate)) return null;
    const notAfter = new Date(certificate.validTo);
    if (Number.isNaN(notAfter.getTime()))
      throw new Error('The end of the certificate is not a date.');
    return { pem: certificate.toString(), fingerprint: certificate.fingerprint256, notAfter };
  } catch (error) {
    throw refused('certificate_unusable', error);
  }
}

function isStrong({ publicKey }: X509Certificate): boolean {
  const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? 0;
  return publicKey.asymmetricKeyType === 'rsa' && bits >= 2048;
}

/** Our metadata, for the provider (security S11). */
export function writeMetadata({ entityId, acsUrl, signing, encryption }: OurMetadata): string {
  const key = (use: string) => (pem: string) =>
    [
      `    <md:KeyDescriptor use="${use}">`,
      `      <ds:KeyInfo xmlns:ds="${ns.signature}">`,
      `        <ds:X509Data><ds:X509Certificate>${bare(pem)}</ds:X509Certificate></ds:X509Data>`,
      '      </ds:KeyInfo>',
      '    </md:KeyDescriptor>',
    ].join('\n');
  // No NameIDFormat: some providers then send that format only.
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<md:EntityDescriptor xmlns:md="${ns.metadata}" entityID="${escapedHtml(entityId)}">`,
    `  <md:SPSSODescriptor WantAssertionsSigned="true" protocolSupportEnumeration="${ns.protocol}">`,
    ...signing.map(key('signing')),
    ...encryption.map(key('encryption')),
    `    <md:AssertionConsumerService Binding="${bindings.post}" Location="${escapedHtml(acsUrl)}" index="0" isDefault="true"/>`,
    '  </md:SPSSODescriptor>',
    '</md:EntityDescriptor>',
    '',
  ].join('\n');
}

function bare(pem: string): string {
  return pem.replace(/-----[A-Z ]+-----/g, '').replace(/\s+/g, '');
}
