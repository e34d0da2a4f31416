import { randomBytes } from 'node:crypto';
import type { Context } from '../../../context.ts';
import type { SealedPlace } from '../../../crypto/seal.ts';
import type { Webhook } from '../../../database/models/webhook.ts';

type Column = 'secret' | 'previous_secret';

const placeOf = (column: Column, webhookId: string): SealedPlace => ({
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
  return ctx.keyring.seal(secret, placeOf(column, webhookId));
}

/** The secret that signs for this webhook. */
export function openWebhookSecret(ctx: Context, webhook: Webhook): string {
  return ctx.keyring.open(webhook.secret, placeOf('secret', webhook.id));
}

/** The secrets that sign now: the current one, and the former one for a while after a rotation. */
export function signingSecrets(ctx: Context, webhook: Webhook): string[] {
  const { id, previousSecret, previousUntil } = webhook;
  const current = openWebhookSecret(ctx, webhook);
  if (previousSecret === null || previousUntil === null || previousUntil <= ctx.now)
    return [current];
  return [current, ctx.keyring.open(previousSecret, placeOf('previous_secret', id))];
}
