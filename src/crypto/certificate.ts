// The library asks for this polyfill, and must not be loaded before it.
import 'reflect-metadata';
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { X509CertificateGenerator } from '@peculiar/x509';

// Certificates for SAML. Providers read our public keys only from certificates, and most ignore what
// else these say. So they are valid for long.

const years = 20;
const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

/** A private key and a certificate for it, both as PEM. */
export interface CertifiedKey {
  privateKey: string;
  certificate: string;
}

/** Generates an RSA key, and signs its certificate with it. */
export async function generateCertifiedKey(
  name: string,
  now: Date,
  modulusLength = 3072,
): Promise<CertifiedKey> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength });
  const until = new Date(now);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    // The clock of a provider may be behind.
    notBefore: new Date(now.getTime() - 86_400_000),
    notAfter: until,
    signingAlgorithm: algorithm,
    keys: {
      privateKey: privateKey.toCryptoKey(algorithm, false, ['sign']),
      publicKey: publicKey.toCryptoKey(algorithm, true, ['verify']),
    },
  });
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `${certificate.toString('pem')}\n`,
  };
}
