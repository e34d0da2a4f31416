import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Refusal } from '../errors.ts';

// A sealed value is `v1.<key id>.<base64url of IV, ciphertext and tag>` (security X1). The master key
// itself never encrypts: each purpose has a key derived from it (RFC 5869).

const ivBytes = 12;
const tagBytes = 16;
const envelope = /^v1\.([A-Za-z0-9_-]{11})\.([A-Za-z0-9_-]{38,})$/;

/** Where a sealed value is stored; bound to it, so that a value moved to another row does not open. */
export interface Place {
  table: string;
  column: string;
  row: string;
}

/** Seals and opens secrets at rest with the master key. */
export interface Keyring {
  /** The id of the key that seals now. */
  readonly keyId: string;
  seal(plaintext: string, place: Place): string;
  /** Refuses `key_invalid` when the value was sealed by another key, for another place, or was altered. */
  open(sealed: string, place: Place): string;
  /** 32 bytes for one purpose, the same for every process with this master key. */
  derive(purpose: string): Buffer;
}

/** The keyring of one master key of 256 bits; refuses `key_invalid` for any other length. */
export function createKeyring(masterKey: Buffer): Keyring {
  if (masterKey.length !== 32) {
    throw new Refusal('key_invalid', `the master key has ${masterKey.length * 8} bits, not 256`);
  }
  const subKey = (info: string, bytes = 32) =>
    Buffer.from(hkdfSync('sha256', masterKey, '', `idctl ${info}`, bytes));
  const sealKey = subKey('seal v1');
  const keyId = subKey('key id', 8).toString('base64url');
  return {
    keyId,
    seal: (plaintext, place) => `v1.${keyId}.${encrypt(sealKey, plaintext, place).toString('base64url')}`,
    open: (sealed, place) => decrypt(sealKey, bodyOf(sealed, keyId, place), place),
    derive: (purpose) => subKey(`derive ${purpose}`),
  };
}

function encrypt(key: Buffer, plaintext: string, place: Place): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
  cipher.setAAD(associatedText(place));
  return Buffer.concat([iv, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function bodyOf(sealed: string, keyId: string, place: Place): Buffer {
  const [, sealedBy, body] = envelope.exec(sealed) ?? [];
  if (sealedBy === undefined || body === undefined) {
    throw new Refusal('key_invalid', `what is stored in ${nameOf(place)} is not a sealed value`);
  }
  if (sealedBy !== keyId) {
    throw new Refusal(
      'key_invalid',
      `the secret in ${nameOf(place)} was sealed by key ${sealedBy}; the master key here is ${keyId}`,
      { hint: 'put back the key file that belongs to this database' },
    );
  }
  return Buffer.from(body, 'base64url');
}

function decrypt(key: Buffer, body: Buffer, place: Place): string {
  const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(associatedText(place));
  decipher.setAuthTag(body.subarray(-tagBytes));
  try {
    const text = decipher.update(body.subarray(ivBytes, -tagBytes));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new Refusal(
      'key_invalid',
      `the secret in ${nameOf(place)} was altered, or sealed for another place`,
      { cause },
    );
  }
}

function associatedText(place: Place): Buffer {
  return Buffer.from(`${place.table}|${place.column}|${place.row}`);
}

function nameOf(place: Place): string {
  return `${place.table}.${place.column} of ${place.row}`;
}
