import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { isTaken, type Outcome, sendMessage } from './delivery/send.ts';
import { requireWebhook } from './find.ts';
import type { webhookRefInput, webhookTestView } from './schema.ts';

/** Sends a message of type `webhook.test` now, switched on or not, and says what came of it; nothing is kept of it. */
export async function testWebhook(
  ctx: Context,
  input: z.output<typeof webhookRefInput>,
): Promise<z.input<typeof webhookTestView>> {
  const { organization } = await requireAuthority(ctx, 'webhooks.change', input.org);
  const webhook = await requireWebhook(organization, input.id);
  const timestamp = ctx.now.toISOString();
  const data = { webhook: webhook.id, organization: organization.id };
  const body = JSON.stringify({ type: 'webhook.test', timestamp, data });
  const never = new AbortController().signal;
  const outcome = await sendMessage(ctx, webhook, { id: randomUUID(), body }, never);
  if (outcome === null) throw new Error('nobody can have broken it off');
  return { ok: isTaken(outcome), message: wordsOf(outcome), responseStatus: outcome.status };
}

function wordsOf(outcome: Outcome): string {
  if (outcome.status === null) return outcome.error;
  if (isTaken(outcome)) return `It took the message and answered ${outcome.status}.`;
  return `It answered ${outcome.status}; from 200 to 299 a message counts as delivered.`;
}
