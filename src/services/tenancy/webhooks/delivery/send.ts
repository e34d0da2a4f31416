import { createHmac } from 'node:crypto';
import type { Context } from '../../../../context.ts';
import type { Webhook } from '../../../../database/models/webhook.ts';
import { Refusal } from '../../../../errors.ts';
import { readVersion } from '../../../../version.ts';
import { signingSecrets } from '../secret.ts';

/** The result of one try: the answered status, or why there was none. */
export type Outcome = { status: number } | { status: null; error: string };

/** Sends one message, signed by Standard Webhooks, within 10 s; null if `stop` aborted it. */
export async function sendMessage(
  ctx: Context,
  webhook: Webhook,
  { id, body }: { id: string; body: string },
  stop: AbortSignal,
): Promise<Outcome | null> {
  const timestamp = Math.floor(ctx.now.getTime() / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': `idctl/${readVersion()}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signMessage(signingSecrets(ctx, webhook), { id, timestamp, body }),
  };
  try {
    return { status: await ctx.outbound.postMessage(webhook.url, { headers, body, signal: stop }) };
  } catch (error) {
    if (stop.aborted) return null;
    if (!(error instanceof Refusal)) throw error;
    return { status: null, error: [error.message, error.hint].filter(Boolean).join(' ') };
  }
}

/** Whether the answer means that the message was accepted. */
export function isTaken({ status }: Outcome): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** The signed parts of a message, by Standard Webhooks. */
interface SignedMessage {
  id: string;
  /** Seconds since 1970. */
  timestamp: number;
  body: string;
}

/** The `webhook-signature` of a message: one for each secret (`whsec_…`), separated by spaces. */
function signMessage(secrets: string[], { id, timestamp, body }: SignedMessage): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}
