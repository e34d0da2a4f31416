import {
  type CipherGCMTypes,
  constants,
  createDecipheriv,
  type KeyObject,
  privateDecrypt,
} from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import { attributeOf, childrenNamed, childrenOf, textOf } from './document.ts';
import { ns } from './names.ts';
import { samlRefused } from './refusal.ts';

// XML Encryption 1.1, as far as SAML needs it: one key, encrypted with RSA-OAEP, and one element,
// encrypted with AES. Node decrypts; this file only finds the parts, each in its own place.

const version11 = 'http://www.w3.org/2009/xmlenc11#';

interface Cipher {
  isAuthenticated: boolean;
  open(key: Buffer, content: Buffer): Buffer;
}

const ciphers = new Map<string, Cipher>([
  [`${version11}aes128-gcm`, gcm('aes-128-gcm')],
  [`${version11}aes192-gcm`, gcm('aes-192-gcm')],
  [`${version11}aes256-gcm`, gcm('aes-256-gcm')],
  [`${ns.encryption}aes128-cbc`, cbc('aes-128-cbc')],
  [`${ns.encryption}aes192-cbc`, cbc('aes-192-cbc')],
  [`${ns.encryption}aes256-cbc`, cbc('aes-256-cbc')],
]);

const hashes = new Map([
  [`${ns.signature}sha1`, 'sha1'],
  [`${ns.encryption}sha256`, 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'sha384'],
  [`${ns.encryption}sha512`, 'sha512'],
]);

/**
 * Checks the form of an encrypted assertion. Refuses algorithms that tell an attacker about the
 * text: AES-CBC unless a verified signature covers it, and RSA with PKCS #1 1.5. Returns the
 * function that decrypts; it throws if no key fits.
 */
export function decryptedText(
  encrypted: Element,
  keys: KeyObject[],
  isCovered: boolean,
): () => string {
  if (keys.length === 0) throw samlRefused('response', 'encryption_not_expected');
  const data = only(encrypted, ns.encryption, 'EncryptedData');
  const info = childrenNamed(data, ns.signature, 'KeyInfo');
  const [key, ...otherKeys] = [encrypted, ...info].flatMap((parent) =>
    childrenNamed(parent, ns.encryption, 'EncryptedKey'),
  );
  if (key === undefined || otherKeys.length > 0 || info.length > 1) throw malformed();
  const cipher = ciphers.get(methodOf(data));
  if (cipher === undefined || !(cipher.isAuthenticated || isCovered)) throw algorithmRefused();
  const hash = hashOf(key);
  const [wrapped, content] = [cipherValue(key), cipherValue(data)];
  return () => opened(cipher, unwrapped(wrapped, hash, keys), content);
}

function malformed() {
  return samlRefused('response', 'malformed');
}

function algorithmRefused() {
  return samlRefused('response', 'encryption_algorithm_refused');
}

function only(parent: Element, namespace: string, name: string): Element {
  const [child, ...more] = childrenNamed(parent, namespace, name);
  if (child === undefined || more.length > 0) throw malformed();
  return child;
}

function methodOf(element: Element): string {
  return attributeOf(only(element, ns.encryption, 'EncryptionMethod'), 'Algorithm') ?? '';
}

/** The hash of RSA-OAEP. Node uses one hash for both of its parts, so they must be the same. */
function hashOf(key: Element): string {
  const method = only(key, ns.encryption, 'EncryptionMethod');
  const name = methodOf(key);
  const algorithm = (namespace: string, child: string) => {
    const [found] = childrenNamed(method, namespace, child);
    return found === undefined ? null : attributeOf(found, 'Algorithm');
  };
  const digest = hashes.get(algorithm(ns.signature, 'DigestMethod') ?? `${ns.signature}sha1`);
  const mask = algorithm(version11, 'MGF') ?? `${version11}mgf1sha1`;
  const hasParameters = childrenOf(method).some(({ localName }) => localName === 'OAEPparams');
  const isOaep =
    name === `${version11}rsa-oaep` ? mask === `${version11}mgf1${digest}` : digest === 'sha1';
  if (digest === undefined || !isOaep || hasParameters) throw algorithmRefused();
  if (name !== `${version11}rsa-oaep` && name !== `${ns.encryption}rsa-oaep-mgf1p`)
    throw algorithmRefused();
  return digest;
}

function cipherValue(element: Element): Buffer {
  const data = only(element, ns.encryption, 'CipherData');
  const text = textOf(only(data, ns.encryption, 'CipherValue'));
  if (text === null) throw malformed();
  return Buffer.from(text, 'base64');
}

function unwrapped(wrapped: Buffer, oaepHash: string, keys: KeyObject[]): Buffer {
  const padding = constants.RSA_PKCS1_OAEP_PADDING;
  let fault: unknown;
  for (const key of keys) {
    try {
      return privateDecrypt({ key, padding, oaepHash }, wrapped);
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

function opened(cipher: Cipher, key: Buffer, content: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(cipher.open(key, content));
}

function gcm(name: CipherGCMTypes): Cipher {
  return {
    isAuthenticated: true,
    open(key, content) {
      const decipher = createDecipheriv(name, key, content.subarray(0, 12), { authTagLength: 16 });
      decipher.setAuthTag(content.subarray(-16));
      return Buffer.concat([decipher.update(content.subarray(12, -16)), decipher.final()]);
    },
  };
}

function cbc(name: string): Cipher {
  return {
    isAuthenticated: false,
    open(key, content) {
      const decipher = createDecipheriv(name, key, content.subarray(0, 16)).setAutoPadding(false);
      const padded = Buffer.concat([decipher.update(content.subarray(16)), decipher.final()]);
      // The last byte is the length of the padding (XML Encryption §5.2.1).
      const padding = padded.at(-1) ?? 0;
      if (padding < 1 || padding > 16) throw new Error('The padding is wrong.');
      return padded.subarray(0, -padding);
    },
  };
}
