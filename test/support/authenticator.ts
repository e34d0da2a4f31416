import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

// An authenticator in software. A test can make its answers wrong, as an attacker would.

/** The ways in which an answer differs from a right answer. */
export interface Twist {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  crossOrigin?: boolean;
  /** User presence and user verification; both are set by default. */
  flags?: { up?: boolean; uv?: boolean };
  counter?: number;
  /** Whether the signature covers another answer. */
  forged?: boolean;
  userHandle?: string | null;
  /** The id of another credential, sent instead of the passkey's own. */
  id?: string;
  /** The browser's `credProps.rk`: whether the passkey is discoverable; null leaves it out. */
  rk?: boolean | null;
  /** A certificate for an attestation statement, which idctl did not request. */
  certificate?: Buffer;
}

/** A passkey with its private key, as its holder has it. */
export interface HeldPasskey {
  id: string;
  userHandle: string;
  counter: number;
  privateKey: KeyObject;
}

interface Options {
  challenge: string;
  rpId?: string;
  rp?: { id: string };
  user?: { id: string };
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const bytes = (data: string | Buffer) => Buffer.from(data).toString('base64url');

/** Creates an authenticator for this origin. */
export function authenticatorAt(origin: string) {
  const rpId = new URL(origin).hostname;

  function clientData(type: string, { challenge }: Options, twist: Twist): string {
    return JSON.stringify({
      type: twist.type ?? type,
      challenge: twist.challenge ?? challenge,
      origin: twist.origin ?? origin,
      crossOrigin: twist.crossOrigin ?? false,
    });
  }

  function authenticatorData(counter: number, twist: Twist, attested = Buffer.alloc(0)): Buffer {
    const { up = true, uv = true } = twist.flags ?? {};
    const flags = (up ? 1 : 0) | (uv ? 4 : 0) | (attested.length > 0 ? 0x40 : 0);
    const head = Buffer.alloc(5);
    head.writeUInt8(flags);
    head.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(twist.rpId ?? rpId), head, attested]);
  }

  return {
    /** Makes a passkey. */
    create(options: Options, twist: Twist = {}) {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const id = twist.id === undefined ? randomBytes(16) : Buffer.from(twist.id, 'base64url');
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const key = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ]);
      const length = Buffer.from([0, id.length]);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, key]);
      const counter = twist.counter ?? 1;
      const data = authenticatorData(counter, twist, attested);
      const held: HeldPasskey = {
        id: bytes(id),
        userHandle: options.user?.id ?? '',
        counter,
        privateKey,
      };
      const credential = {
        id: held.id,
        rawId: held.id,
        type: 'public-key',
        response: {
          clientDataJSON: bytes(clientData('webauthn.create', options, twist)),
          attestationObject: bytes(attestationOf(data, twist.certificate)),
          transports: ['internal'],
        },
        clientExtensionResults: twist.rk === null ? {} : { credProps: { rk: twist.rk ?? true } },
      };
      return { held, credential };
    },
    /** Signs with a passkey; its counter grows by one. */
    get(held: HeldPasskey, options: Options, twist: Twist = {}) {
      held.counter = twist.counter ?? held.counter + 1;
      const client = clientData('webauthn.get', options, twist);
      const data = authenticatorData(held.counter, twist);
      const signed = Buffer.concat([data, sha256(twist.forged ? 'another answer' : client)]);
      const { userHandle = held.userHandle } = twist;
      return {
        id: twist.id ?? held.id,
        rawId: twist.id ?? held.id,
        type: 'public-key',
        response: {
          clientDataJSON: bytes(client),
          authenticatorData: bytes(data),
          signature: bytes(sign('sha256', signed, held.privateKey)),
          ...(userHandle === null ? {} : { userHandle }),
        },
      };
    },
  };
}

/** The attestation object in CBOR: without a statement, or `packed` with a certificate. */
function attestationOf(data: Buffer, certificate: Buffer | undefined): Buffer {
  const statement =
    certificate === undefined
      ? Buffer.from([0xa0])
      : Buffer.concat([
          Buffer.from([0xa3]),
          ...[text('alg'), Buffer.from([0x26]), text('sig'), byteString(Buffer.alloc(64))],
          ...[text('x5c'), Buffer.from([0x81]), byteString(certificate)],
        ]);
  return Buffer.concat([
    Buffer.from([0xa3]),
    ...[text('fmt'), text(certificate === undefined ? 'none' : 'packed')],
    ...[text('attStmt'), statement],
    ...[text('authData'), byteString(data)],
  ]);
}

const text = (word: string) =>
  Buffer.concat([Buffer.from([0x60 + word.length]), Buffer.from(word)]);

function byteString(data: Buffer): Buffer {
  // Canonical CBOR requires the shortest form of a length; nothing here is under 24 bytes.
  const { length } = data;
  const head = length < 256 ? [0x58, length] : [0x59, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), data]);
}
