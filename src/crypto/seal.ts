import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { Refusal } from '../errors.ts';

// A sealed value is `v1.<key id>.<base64url of IV, ciphertext and tag>` (security X1). The master
// key itself never encrypts: keys for each purpose are derived from it (RFC 5869).

const ivBytes = 12;
const tagBytes = 16;
const envelope = /^v1\.([A-Za-z0-9_-]{11})\.([A-Za-z0-9_-]{38,})$/;

/**
 * The table, column and row of a sealed value. The seal is bound to them, so a value copied to
 * another row does not open.
 */
export interface SealedColumn {
  table: string;
  column: string;
  row: string;
}

/** Seals and opens stored secrets with the master keys. One key seals, and all keys can open. */
export interface Keyring {
  /** The id of the key that seals now. */
  readonly keyId: string;
  seal(plaintext: string, place: SealedColumn): string;
  /**
   * Refuses with `key_invalid` if none of these keys sealed the value, or if it was altered or
   * moved from another row.
   */
  open(sealed: string, place: SealedColumn): string;
  /**
   * Derives a 32-byte key for one purpose. Every process with this master key gets the same key.
   */
  derive(purpose: string): KeyObject;
  /** Seals with this key from now on. Returns false if the key is unknown. */
  sealWith(keyId: string): boolean;
}

interface MasterKey {
  id: string;
  seal: Buffer;
  derive(purpose: string): KeyObject;
}

/**
 * Creates a keyring of master keys. The first one seals. Refuses with `key_invalid` for a key that
 * does not have 256 bits. If a needed key is missing, `reread` reads the keys again, because the
 * key may be new.
 */
export function createKeyring(
  given: Buffer | readonly Buffer[],
  reread?: () => readonly Buffer[],
): Keyring {
  const [first, ...more] = [given].flat().map(openMasterKey);
  if (first === undefined) throw new Refusal('key_invalid', 'There is no master key.');
  const keys = new Map([first, ...more].map((key) => [key.id, key]));
  let current = first;
  const find = (id: string): MasterKey | undefined => {
    if (!keys.has(id) && reread)
      for (const key of reread().map(openMasterKey)) keys.set(key.id, key);
    return keys.get(id);
  };
  return {
    get keyId() {
      return current.id;
    },
    seal: (plaintext, place) =>
      `v1.${current.id}.${encrypt(current.seal, plaintext, place).toString('base64url')}`,
    open: (sealed, place) => {
      const { sealedBy, body } = partsOf(sealed, place);
      const key = find(sealedBy);
      if (key === undefined) throw foreign(place, sealedBy, current.id);
      return decrypt(key.seal, body, place);
    },
    derive: (purpose) => current.derive(purpose),
    sealWith: (id) => {
      const key = find(id);
      if (key !== undefined) current = key;
      return key !== undefined;
    },
  };
}

/** The id of a master key. It does not reveal the key. */
export function idOfMasterKey(masterKey: Buffer): string {
  return openMasterKey(masterKey).id;
}

/** The prefix of all values sealed by the key with this id. */
export function sealedPrefix(keyId: string): string {
  return `v1.${keyId}.`;
}

function openMasterKey(masterKey: Buffer): MasterKey {
  if (masterKey.length !== 32) {
    throw new Refusal('key_invalid', `The master key has ${masterKey.length * 8} bits, not 256.`);
  }
  const subKey = (info: string, bytes = 32) =>
    Buffer.from(hkdfSync('sha256', masterKey, '', `idctl ${info}`, bytes));
  // Cached as key objects: Node would convert bytes at each use, and every sign-in uses derived
  // keys a dozen times.
  const derived = new Map<string, KeyObject>();
  const derive = (purpose: string): KeyObject => {
    const key = derived.get(purpose) ?? createSecretKey(subKey(`derive ${purpose}`));
    derived.set(purpose, key);
    return key;
  };
  return { id: subKey('key id', 8).toString('base64url'), seal: subKey('seal v1'), derive };
}

function encrypt(key: Buffer, plaintext: string, place: SealedColumn): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
  cipher.setAAD(associatedText(place));
  return Buffer.concat([iv, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function partsOf(sealed: string, place: SealedColumn): { sealedBy: string; body: Buffer } {
  const [, sealedBy, body] = envelope.exec(sealed) ?? [];
  if (sealedBy === undefined || body === undefined) {
    throw new Refusal('key_invalid', `The value in ${nameOf(place)} is not a sealed value.`);
  }
  return { sealedBy, body: Buffer.from(body, 'base64url') };
}

function foreign(place: SealedColumn, sealedBy: string, keyId: string): Refusal {
  return new Refusal(
    'key_invalid',
    `The secret in ${nameOf(place)} was sealed by key ${sealedBy}, but the master key is ${keyId}.`,
    { hint: 'Restore the key file that belongs to this database.' },
  );
}

function decrypt(key: Buffer, body: Buffer, place: SealedColumn): string {
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
      `The secret in ${nameOf(place)} was altered, or copied from another row.`,
      { cause },
    );
  }
}

function associatedText(place: SealedColumn): Buffer {
  return Buffer.from(`${place.table}|${place.column}|${place.row}`);
}

function nameOf(place: SealedColumn): string {
  return `${place.table}.${place.column} of ${place.row}`;
}
