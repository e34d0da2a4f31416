import type { Element } from '@xmldom/xmldom';
import { readAssertion } from './assertion.ts';
import { decryptedText } from './decrypt.ts';
import { attributeOf, childrenNamed, everyElement, isNamed, parseXml } from './document.ts';
import { MarkupFault, rootTag } from './markup.ts';
import { ns } from './names.ts';
import { samlRefused } from './refusal.ts';
import { checkResponse } from './response.ts';
import type { Expected, SamlConnection, SamlProof } from './saml.ts';
import { signedText } from './signature.ts';

// Security S11. A signature covers a text. Every check and every value comes from the text that a
// certificate of the provider's metadata verified, parsed again on its own. The document that
// arrived only says where the signatures are.

/** The maximum number of bytes of a decoded response. */
const maxBytes = 256 * 1024;

type Stage = 'response' | 'assertion';

interface Parsed {
  text: string;
  root: Element;
}

/** What every step needs to know. */
interface Verification {
  connection: SamlConnection;
  expected: Expected;
}

/** An assertion that cannot be decrypted, or is refused after that. */
export interface Unusable {
  unusable: unknown;
  /** How many milliseconds ago its decryption began. */
  took: number;
}

/**
 * Verifies a response (security S11); see `Saml`. A thread does this (`thread.ts`), because it takes
 * up to 200 ms.
 */
export function verifyResponse(
  connection: SamlConnection,
  field: string,
  expected: Expected,
): SamlProof | Unusable {
  const verification = { connection, expected };
  const arrived = parseResponse(decoded(field));
  checkPlaces(arrived.root, assertionsOf(arrived.root));
  const signed = verified(arrived, arrived.root, 'response', connection);
  const response = signed ?? arrived;
  checkResponse(response.root, { connection, expected, isSigned: signed !== null });
  const [assertion] = assertionsOf(response.root);
  if (assertion === undefined) throw samlRefused('response', 'assertion_missing');
  const isCovered = signed !== null;
  if (isNamed(assertion, ns.assertion, 'EncryptedAssertion'))
    return readEncrypted(assertion, isCovered, verification);
  return readSigned({ ...response, root: assertion }, isCovered, verification);
}

/**
 * The request that the form field `SAMLResponse` names, unverified; null if it names none. Parses
 * the first tag only, because a stranger may have sent the field (security X11).
 */
export function requestIn(field: string): string | null {
  return attributeOf(parseResponse(rootTag(decoded(field))).root, 'InResponseTo');
}

/** The parsed response. Refuses anything but a SAML 2.0 response. */
function parseResponse(text: string): Parsed {
  const response = parsed(text, maxBytes, 'response');
  if (!isNamed(response.root, ns.protocol, 'Response'))
    throw samlRefused('response', 'not_a_response');
  return response;
}

function decoded(field: string): string {
  const encoded = field.replace(/\s+/g, '');
  if (encoded.length > (maxBytes * 4) / 3 + 4) throw samlRefused('response', 'too_large');
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) throw samlRefused('response', 'malformed');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw samlRefused('response', 'malformed', error);
  }
}

function parsed(text: string, most: number, stage: Stage): Parsed {
  try {
    return { text, root: parseXml(text, most) };
  } catch (error) {
    if (error instanceof MarkupFault) throw samlRefused(stage, error.reason, error);
    throw error;
  }
}

/** The assertions in a response, encrypted or not. */
function assertionsOf(response: Element): Element[] {
  return ['Assertion', 'EncryptedAssertion'].flatMap((name) =>
    childrenNamed(response, ns.assertion, name),
  );
}

/**
 * Refuses a second assertion or response anywhere, a signature in another place, and an id that
 * stands twice: what all wrapping attacks need.
 */
function checkPlaces(root: Element, assertions: Element[]): void {
  const elements = everyElement(root);
  const count = (...names: string[]) =>
    elements.filter(({ localName }) => names.includes(localName)).length;
  if (assertions.length > 1 || count('Assertion', 'EncryptedAssertion') > assertions.length)
    throw samlRefused('response', 'assertions_several');
  if (count('Response') > 1) throw samlRefused('response', 'assertions_several');
  const inPlace = [root, ...assertions].flatMap(signaturesOf);
  const signatures = elements.filter((element) => isNamed(element, ns.signature, 'Signature'));
  if (!signatures.every((signature) => inPlace.includes(signature)))
    throw samlRefused('response', 'signature_malformed');
  const ids = elements.flatMap(({ attributes }) =>
    Array.from(attributes).filter(({ localName }) => /^id$/i.test(localName)),
  );
  if (new Set(ids.map(({ value }) => value)).size < ids.length)
    throw samlRefused('response', 'id_repeated');
}

function signaturesOf(element: Element): Element[] {
  return childrenNamed(element, ns.signature, 'Signature');
}

/** The element as its own signature covers it; null if it has none. */
function verified(
  { text }: Parsed,
  element: Element,
  stage: Stage,
  { provider }: SamlConnection,
): Parsed | null {
  const [signature, ...more] = signaturesOf(element);
  if (signature === undefined) return null;
  if (more.length > 0) throw samlRefused(stage, 'signature_malformed');
  const { certificates } = provider;
  const id = attributeOf(element, 'ID');
  // The canonical form repeats namespaces, so it may be longer.
  return parsed(signedText(text, signature, { id, stage, certificates }), 4 * maxBytes, stage);
}

/** Reads an assertion that has a signature, or whose response has one. */
function readSigned(
  document: Parsed,
  isCovered: boolean,
  { connection, expected }: Verification,
): SamlProof {
  const own = verified(document, document.root, 'assertion', connection);
  if (own === null && !isCovered) throw samlRefused('assertion', 'signature_missing');
  const { root } = own ?? document;
  return readAssertion(root, { connection, expected, isResponseSigned: isCovered });
}

// All organizations share the key. A member of one could send another's encrypted assertion to
// their own connection, and learn from different failures what it says. So all of them are alike,
// and last alike (`thread.ts`).
function readEncrypted(
  encrypted: Element,
  isCovered: boolean,
  verification: Verification,
): SamlProof | Unusable {
  const decrypt = decryptedText(encrypted, verification.connection.decryptionKeys, isCovered);
  const began = performance.now();
  try {
    const document = parsed(decrypt(), maxBytes, 'assertion');
    checkPlaces(document.root, [document.root]);
    return readSigned(document, isCovered, verification);
  } catch (error) {
    return { unusable: error, took: performance.now() - began };
  }
}
