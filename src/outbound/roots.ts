import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { Refusal } from '../errors.ts';
import { fileFault } from '../host/file-fault.ts';

/**
 * The root certificates that TLS connections trust: Node's, and those in the PEM file of a setting.
 * Undefined without a file. Refuses with `config_invalid`, naming the setting, if the file is
 * unreadable or does not contain a certificate.
 */
export function trustedRoots(setting: string, file: string | undefined): SecureContext | undefined {
  // The roots are parsed only once here, because parsing takes 12 ms.
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
  throw new Refusal('config_invalid', `${setting}: ${file} does not contain a PEM certificate`);
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
