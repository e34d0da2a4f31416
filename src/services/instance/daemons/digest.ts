import { createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';

/** The configuration file that a process has read, and the digest of its contents. */
export interface ConfigurationFile {
  file: string;
  digest: string;
}

/** What is stored of the digest: it is keyed, since the file may hold a password that can be guessed. */
export function keyedDigest({ keyring }: Pick<Context, 'keyring'>, { digest }: ConfigurationFile): string {
  const mac = createHmac('sha256', keyring.derive('configuration digest')).update(digest).digest('base64url');
  return `${keyring.keyId}.${mac}`;
}
