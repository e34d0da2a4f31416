import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import type { addWebhookInput } from './schema.ts';
import { newWebhookSecret, sealWebhookSecret } from './secret.ts';
import { viewWebhook } from './view.ts';

const most = 20;

/** Adds a webhook and answers the secret that signs for it, once (interface page). */
export async function addWebhook(ctx: Context, input: z.output<typeof addWebhookInput>) {
  const { organization } = await requireAuthority(ctx, 'webhooks.change', input.org);
  await ctx.outbound.judgeUrl(input.url).catch(refuseUrl);
  const id = orderedId();
  const secret = newWebhookSecret();
  const webhook = await transaction(async () => {
    if ((await Webhook.count({ where: { organizationId: organization.id } })) >= most) throw tooMany();
    const made = await Webhook.create({
      id,
      organizationId: organization.id,
      url: input.url,
      events: input.events.includes('*') ? null : [...new Set(input.events)],
      secret: sealWebhookSecret(ctx, 'secret', id, secret),
      enabled: true,
      createdAt: ctx.now,
    });
    await recordEvent(ctx, {
      kind: 'webhook.added',
      organizationId: organization.id,
      subject: { type: 'webhook', id, name: made.url },
      data: { events: made.events ?? ['*'] },
    });
    return made;
  });
  return { ...viewWebhook(webhook), secret };
}

/** An address that is not allowed is the caller's to change: nothing upstream has failed. */
function refuseUrl(error: unknown): never {
  if (!(error instanceof Refusal) || error.code !== 'outbound_refused') throw error;
  throw refuseField('url', error.message, error.hint);
}

function tooMany(): Refusal {
  return new Refusal('conflict', `An organization has at most ${most} webhooks.`, {
    hint: 'Remove one first.',
  });
}
