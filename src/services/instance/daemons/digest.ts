import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';

/**
 * The configuration file that a process has read, with the digests of its contents and of its
 * restart-only settings.
 */
export const digestedFile = z.strictObject({
  file: z.string(),
  digest: z.string(),
  restDigest: z.string(),
});
export type ConfigurationFile = z.output<typeof digestedFile>;

/** The stored form of the digest. It is keyed, because the file may hold a guessable password. */
export function keyedDigest(
  { keyring }: Pick<Context, 'keyring'>,
  read: ConfigurationFile,
): string {
  const key = keyring.derive('configuration digest');
  const keyed = (digest: string) => createHmac('sha256', key).update(digest).digest('base64url');
  return `${keyring.keyId}.${keyed(read.digest)}.${keyed(read.restDigest)}`;
}

/**
 * The part of a keyed digest that covers the restart-only settings; undefined from an older idctl.
 */
export function restOf(keyed: string): string | undefined {
  return keyed.split('.')[2];
}
