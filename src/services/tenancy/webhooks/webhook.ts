import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { SealedColumn } from '../../../crypto/seal.ts';
import type { Webhook } from '../../../database/models/webhook.ts';
import { Refusal } from '../../../errors.ts';
import { plainText } from '../../../next.ts';
import { readVersion } from '../../../version.ts';
import { eventView, kindPattern } from '../../foundation/events/view.ts';
import { id, instant, viewOf } from '../../foundation/fields.ts';
import { described } from '../../foundation/settings.ts';
import { webhookWords } from './words.ts';

/** The URL that events are sent to. It must not contain credentials, because idctl shows it. */
export const webhookUrl = z
  .url({ protocol: /^https?$/, error: 'must be an https:// URL', abort: true })
  .max(2000, 'must have at most 2000 characters')
  .refine((text) => {
    const { username, password, hash } = new URL(text);
    return username === '' && password === '' && hash === '';
  }, 'must not contain credentials or a fragment');

const webhookEvents = z
  .array(kindPattern)
  .min(1, 'must name at least one kind')
  .max(100, 'must have at most 100 entries');

/** The settings of a webhook, each with its words. */
export const webhookSettings = described(
  { url: webhookUrl, events: webhookEvents.default(['*']), enabled: z.boolean().default(true) },
  webhookWords,
);

export const webhookView = z.object({
  id,
  ...described(
    { url: z.string(), events: z.array(z.string()), enabled: z.boolean() },
    webhookWords,
  ),
  /** The time of the first failed attempt since the last success; null after a success. */
  failingSince: instant.nullable(),
  createdAt: instant,
});
export const newWebhookView = webhookView.extend({ secret: z.string() });
export const rotatedWebhookView = newWebhookView.extend({ previousUntil: instant });
export const webhookRemovedView = webhookView.extend({ waiting: z.int() });

export const webhookTestView = z.object({
  ok: z.boolean(),
  message: z.string(),
  responseStatus: z.int().nullable(),
});

/** The message that a webhook gets. */
export const webhookMessage = z.object({ type: z.string(), timestamp: instant, data: eventView });

/** A webhook without its secrets. */
export function viewWebhook(webhook: Webhook) {
  return { ...viewOf(webhookView, webhook), events: webhook.events ?? ['*'] };
}

type Column = 'secret' | 'previous_secret';

const columnOf = (column: Column, webhookId: string): SealedColumn => ({
  table: 'webhooks',
  column,
  row: webhookId,
});

/** A new secret in the form of Standard Webhooks: `whsec_` and 256 random bits in Base64. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Seals the secret for storage, bound to its webhook and column. */
export function sealWebhookSecret(
  ctx: Context,
  column: Column,
  webhookId: string,
  secret: string,
): string {
  return ctx.keyring.seal(secret, columnOf(column, webhookId));
}

/** The secret that signs for this webhook. */
export function openWebhookSecret(ctx: Context, webhook: Webhook): string {
  return ctx.keyring.open(webhook.secret, columnOf('secret', webhook.id));
}

/** The secrets that sign now: the current one, and the former one for a while after a rotation. */
export function signingSecrets(ctx: Context, webhook: Webhook): string[] {
  const { id, previousSecret, previousUntil } = webhook;
  const current = openWebhookSecret(ctx, webhook);
  if (previousSecret === null || previousUntil === null || previousUntil <= ctx.now)
    return [current];
  return [current, ctx.keyring.open(previousSecret, columnOf('previous_secret', id))];
}

/** The result of one attempt: the answered status, or why there was no answer. */
export type Outcome = { status: number } | { status: null; error: string };

/** Sends one message, signed as in Standard Webhooks, within 10 s; null if `stop` aborted it. */
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
    'webhook-signature': sign(`${id}.${timestamp}.${body}`, signingSecrets(ctx, webhook)),
  };
  try {
    return { status: await ctx.outbound.postMessage(webhook.url, { headers, body, signal: stop }) };
  } catch (error) {
    if (stop.aborted) return null;
    if (!(error instanceof Refusal)) throw error;
    return {
      status: null,
      error: [error.message, plainText(error.hint)].filter(Boolean).join(' '),
    };
  }
}

/** Whether the answer means that the message was accepted. */
export function isTaken({ status }: Outcome): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** The `webhook-signature` header: a signature for each secret (`whsec_…`), separated by spaces. */
function sign(message: string, secrets: string[]): string {
  const keys = secrets.map((secret) => Buffer.from(secret.slice('whsec_'.length), 'base64'));
  const macs = keys.map((key) => createHmac('sha256', key).update(message).digest('base64'));
  return macs.map((mac) => `v1,${mac}`).join(' ');
}
