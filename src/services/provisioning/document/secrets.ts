import { createHmac, type Hmac } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ConnectionKindName } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { inSlices } from '../../../host/queue.ts';

// Secrets are compared by a keyed fingerprint. Plans, logs and errors do not show values.

/** The fingerprint of a secret, made with a key that only this instance has. */
export function fingerprintOf(ctx: Context, section: ConnectionKindName, secret: string): string {
  return keyed(ctx, JSON.stringify([section, secret]));
}

/** The digest of a plan. It is keyed, because its input has fingerprints and personal data. */
export async function secretsDigest(ctx: Context, parts: object[]): Promise<string> {
  const hmac = keyedHash(ctx);
  // Long lists are hashed in slices: one text of all parts would block the process.
  for (const part of parts) {
    for (const [name, value] of Object.entries(part)) {
      hmac.update(`\n${JSON.stringify(name)}:`);
      if (!Array.isArray(value)) hmac.update(JSON.stringify(value) ?? 'absent');
      else await inSlices(value, (some) => void hmac.update(`${JSON.stringify(some)}\n`));
      await yieldToEventLoop();
    }
    hmac.update('\n;');
  }
  return hmac.digest('base64url');
}

function keyed(ctx: Context, text: string): string {
  return keyedHash(ctx).update(text).digest('base64url');
}

function keyedHash(ctx: Context): Hmac {
  return createHmac('sha256', ctx.keyring.derive('document'));
}
