import { createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';

// Secrets are compared by a keyed fingerprint. No plan, log or error shows a value.

/** The fingerprint of a secret, made with a key that only this instance has. */
export function fingerprintOf(ctx: Context, section: 'sso' | 'ldap', secret: string): string {
  return keyed(ctx, JSON.stringify([section, secret]));
}

/** The digest of a plan. It is keyed, because its input has fingerprints and personal data. */
export function secretsDigest(ctx: Context, ...parts: unknown[]): string {
  return keyed(ctx, JSON.stringify(parts));
}

function keyed(ctx: Context, text: string): string {
  return createHmac('sha256', ctx.keyring.derive('document')).update(text).digest('base64url');
}
