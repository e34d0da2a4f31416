import { type KeyObject, X509Certificate } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import { ExclusiveCanonicalization, findAncestorNs, SignedXml } from 'xml-crypto';
import { attributeOf, childrenOf, isNamed, textOf } from './document.ts';
import { enveloped, exclusive, ns } from './names.ts';
import { samlRefused } from './refusal.ts';
import { digestAlgorithms, signatureAlgorithms } from './signature-algorithms.ts';

// The library computes the digest and verifies the signature. It accepts more than SAML allows, so
// the form of the signature is checked first (security S11): one reference, to the element around
// the signature, with the two transforms of SAML, and algorithms from a short list. The library then
// reads the whole document, which takes time, so the value of the signature is verified before that:
// a response of a stranger goes no further (security O15).

type Stage = 'response' | 'assertion';

/** The maximum length of a list of namespace prefixes, in characters. Known lists have under 100. */
const maxPrefixList = 1000;

/**
 * The element as it was signed: the text whose digest the signature contains. Callers read only
 * this text. Refuses unless one of the certificates verifies the signature.
 */
export function signedText(
  text: string,
  signature: Element,
  { id, stage, certificates }: { id: string | null; stage: Stage; certificates: string[] },
): string {
  const key = signingKey(checkForm(signature, id, stage), certificates);
  if (key === undefined) throw samlRefused(stage, 'signature_invalid');
  try {
    return verifiedText(text, signature, key);
  } catch (error) {
    throw samlRefused(stage, 'signature_invalid', error);
  }
}

/** The key that the value of the signature was made with. Reads nothing but the signature. */
function signingKey({ info, value, algorithm }: Form, certificates: string[]) {
  const ancestorNamespaces = findAncestorNs(info, '.');
  const canonical = new ExclusiveCanonicalization().process(info.cloneNode(true), {
    ancestorNamespaces,
  });
  const method = new signatureAlgorithms[algorithm]();
  return certificates
    .map((certificate) => new X509Certificate(certificate).publicKey)
    .find((key) => method.verifySignature(canonical, key, value));
}

function verifiedText(text: string, signature: Element, publicCert: KeyObject): string {
  // Without `getCertFromKeyInfo`, the library ignores the key that the signature brings.
  const signed = new SignedXml({ publicCert });
  signed.SignatureAlgorithms = signatureAlgorithms;
  signed.HashAlgorithms = digestAlgorithms;
  signed.loadSignature(signature);
  if (!signed.checkSignature(text)) throw new Error('The digest differs.');
  const [only, ...more] = signed.getSignedReferences();
  if (only === undefined || more.length > 0) throw new Error('There is not one reference.');
  return only;
}

interface Form {
  info: Element;
  value: string;
  algorithm: keyof typeof signatureAlgorithms;
}

function checkForm(signature: Element, id: string | null, stage: Stage): Form {
  const refuse = (reason: Parameters<typeof samlRefused>[1]) => samlRefused(stage, reason);
  const parts = (parent: Element | undefined, names: string[]): Element[] => {
    const found = parent === undefined ? [] : childrenOf(parent);
    const asNamed = names.every((name, at) => found[at] && isNamed(found[at], ns.signature, name));
    if (!asNamed || found.length !== names.length) throw refuse('signature_malformed');
    return found;
  };
  const hasKeyInfo = childrenOf(signature).length === 3;
  const [info, value] = parts(signature, [
    'SignedInfo',
    'SignatureValue',
    ...(hasKeyInfo ? ['KeyInfo'] : []),
  ]);
  const [canonical, method, reference] = parts(info, [
    'CanonicalizationMethod',
    'SignatureMethod',
    'Reference',
  ]);
  const [transforms, digest, digestValue] = parts(reference, [
    'Transforms',
    'DigestMethod',
    'DigestValue',
  ]);
  const transformed = parts(transforms, ['Transform', 'Transform']);
  const [text, digestText] = [value && textOf(value), digestValue && textOf(digestValue)];
  if (!info || text == null || digestText == null) throw refuse('signature_malformed');
  const algorithm = algorithmOf(method);
  if (!isKnown(algorithm)) throw refuse('signature_algorithm_refused');
  if (!Object.hasOwn(digestAlgorithms, algorithmOf(digest)))
    throw refuse('signature_algorithm_refused');
  if (algorithmOf(canonical) !== exclusive) throw refuse('signature_transform_refused');
  if (!isUsual(transformed) || ![canonical, ...transformed].every(hasOnlyPrefixes))
    throw refuse('signature_transform_refused');
  if (!id || !reference || attributeOf(reference, 'URI') !== `#${id}`)
    throw refuse('signature_reference_refused');
  return { info, value: text, algorithm };
}

function isKnown(algorithm: string): algorithm is Form['algorithm'] {
  return Object.hasOwn(signatureAlgorithms, algorithm);
}

/** Whether these are the two transforms of SAML. */
function isUsual(transforms: Element[]): boolean {
  return transforms.map(algorithmOf).join(' ') === `${enveloped} ${exclusive}`;
}

/**
 * Whether this contains at most a list of namespace prefixes. Some signers write the list into both
 * transforms, and its namespace is then wrong in the first. Only the second counts. A long list
 * takes time before the signature is verified.
 */
function hasOnlyPrefixes(element: Element | undefined): boolean {
  return (element === undefined ? [] : childrenOf(element)).every(
    (child) =>
      child.localName === 'InclusiveNamespaces' &&
      (attributeOf(child, 'PrefixList') ?? '').length <= maxPrefixList,
  );
}

function algorithmOf(element: Element | undefined): string {
  return (element && attributeOf(element, 'Algorithm')) ?? '';
}
