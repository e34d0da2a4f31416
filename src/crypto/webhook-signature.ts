import { createHmac } from 'node:crypto';

/** What is signed of a message, by Standard Webhooks. */
export interface SignedMessage {
  id: string;
  /** Seconds since 1970. */
  timestamp: number;
  body: string;
}

/** The `webhook-signature` of a message: one for each secret (`whsec_…`), separated by spaces. */
export function signMessage(secrets: string[], { id, timestamp, body }: SignedMessage): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}
