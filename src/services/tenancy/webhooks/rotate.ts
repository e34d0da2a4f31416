import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { after } from '../../foundation/time.ts';
import { requireWebhook } from './find.ts';
import type { webhookRefInput } from './schema.ts';
import { newWebhookSecret, openWebhookSecret, sealWebhookSecret } from './secret.ts';
import { viewWebhook } from './view.ts';

const overlapSeconds = 24 * 3600;

/** Gives a webhook a new secret, answered once; for a day messages are signed by the former one too. */
export async function rotateWebhook(ctx: Context, input: z.output<typeof webhookRefInput>) {
  const { organization } = await requireAuthority(ctx, 'webhooks.change', input.org);
  const secret = newWebhookSecret();
  const previousUntil = after(ctx.now, overlapSeconds);
  return transaction(async () => {
    const webhook = await requireWebhook(organization, input.id);
    const former = openWebhookSecret(ctx, webhook);
    await webhook.update({
      secret: sealWebhookSecret(ctx, 'secret', webhook.id, secret),
      previousSecret: sealWebhookSecret(ctx, 'previous_secret', webhook.id, former),
      previousUntil,
    });
    const until = previousUntil.toISOString();
    await recordEvent(ctx, {
      kind: 'webhook.secret.rotated',
      organizationId: organization.id,
      subject: { type: 'webhook', id: webhook.id, name: webhook.url },
      data: { previousUntil: until },
    });
    return { ...viewWebhook(webhook), secret, previousUntil: until };
  });
}
