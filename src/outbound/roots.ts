import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { Refusal } from '../errors.ts';
import { fileFault } from '../file-fault.ts';

/**
 * The roots that TLS connections trust: Node's own, and those of the PEM file that a setting names.
 * Undefined without a file. Refuses `config_invalid`, naming the setting, if the file holds no
 * certificate.
 */
export function trustedRoots(setting: string, file: string | undefined): SecureContext | undefined {
  // One context for all connections: parsing the roots takes 12 ms each time.
  return file === undefined
    ? undefined
    : createSecureContext({ ca: [...getCACertificates(), readPem(setting, file)] });
}

function readPem(setting: string, file: string): string {
  const pem = readText(setting, file);
  try {
    createSecureContext({ ca: pem });
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  } catch (cause) {
    throw new Refusal('config_invalid', `${setting}: ${file} cannot be read as certificates`, {
      cause,
    });
  }
  throw new Refusal('config_invalid', `${setting}: ${file} holds no PEM certificate`);
}

function readText(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Refusal('config_invalid', `${setting}: ${file} ${fileFault(cause, 'read')}`, {
      cause,
    });
  }
}
