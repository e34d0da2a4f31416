import {
  constants,
  createHash,
  createPublicKey,
  type KeyLike,
  KeyObject,
  verify,
} from 'node:crypto';
import { ns, rsaSha256, sha256 } from './names.ts';

// The accepted algorithms: RSA with SHA-256 or stronger (security S11). They replace the lists of the
// library, which include SHA-1.

const more = 'http://www.w3.org/2001/04/xmldsig-more#';
const pss = 'http://www.w3.org/2007/05/xmldsig-more#';

/** The digests by their identifier. */
export const digestAlgorithms = {
  [sha256]: digest('sha256', sha256),
  [`${more}sha384`]: digest('sha384', `${more}sha384`),
  [`${ns.encryption}sha512`]: digest('sha512', `${ns.encryption}sha512`),
};

/** The signatures by their identifier. */
export const signatureAlgorithms = {
  [rsaSha256]: signature('sha256', rsaSha256),
  [`${more}rsa-sha384`]: signature('sha384', `${more}rsa-sha384`),
  [`${more}rsa-sha512`]: signature('sha512', `${more}rsa-sha512`),
  [`${pss}sha256-rsa-MGF1`]: signature('sha256', `${pss}sha256-rsa-MGF1`, true),
  [`${pss}sha384-rsa-MGF1`]: signature('sha384', `${pss}sha384-rsa-MGF1`, true),
  [`${pss}sha512-rsa-MGF1`]: signature('sha512', `${pss}sha512-rsa-MGF1`, true),
};

function digest(hash: string, name: string) {
  return class {
    getAlgorithmName = () => name;
    getHash = (text: string) => createHash(hash).update(text, 'utf8').digest('base64');
  };
}

function signature(hash: string, name: string, isPss = false) {
  const padding = isPss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : { padding: constants.RSA_PKCS1_PADDING };
  return class {
    getAlgorithmName = () => name;
    // The library asks for this method too, but these classes only verify.
    getSignature = (): never => {
      throw new Error(`${name} is not used to sign.`);
    };
    verifySignature = (text: string, given: KeyLike, value: string) => {
      const key = given instanceof KeyObject ? given : createPublicKey(given);
      return verify(hash, Buffer.from(text), { key, ...padding }, Buffer.from(value, 'base64'));
    };
  };
}
