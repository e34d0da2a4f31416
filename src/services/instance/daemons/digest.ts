import { createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';

/** The configuration file that a process has read, with the digests of its contents and of what only a restart takes over. */
export interface ConfigurationFile {
  file: string;
  digest: string;
  restDigest: string;
}

/** What is stored of the digest: it is keyed, since the file may hold a password that can be guessed. */
export function keyedDigest(
  { keyring }: Pick<Context, 'keyring'>,
  read: ConfigurationFile,
): string {
  const key = keyring.derive('configuration digest');
  const keyed = (digest: string) => createHmac('sha256', key).update(digest).digest('base64url');
  return `${keyring.keyId}.${keyed(read.digest)}.${keyed(read.restDigest)}`;
}

/** The part of a keyed digest that is of the settings that only a restart takes over; undefined from an older idctl. */
export function restOf(keyed: string): string | undefined {
  return keyed.split('.')[2];
}
