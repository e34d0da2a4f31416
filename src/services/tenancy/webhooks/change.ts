import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireWebhook } from './find.ts';
import type { changeWebhookInput } from './schema.ts';
import { viewWebhook } from './view.ts';

/**
 * Switches a webhook on or off. Events are kept for it only while it is on; what waited when it was switched off is
 * sent once it is on again.
 */
export async function changeWebhook(ctx: Context, { org, id, enabled }: z.output<typeof changeWebhookInput>) {
  const { organization } = await requireAuthority(ctx, 'webhooks.change', org);
  return transaction(async () => {
    const webhook = await requireWebhook(organization, id);
    await webhook.update({ enabled, ...(enabled ? { failingSince: null, pausedUntil: null } : {}) });
    const about = { organizationId: organization.id, subject: { type: 'webhook', id, name: webhook.url } };
    if (enabled) await recordEvent(ctx, { kind: 'webhook.enabled', ...about });
    else await recordEvent(ctx, { kind: 'webhook.disabled', ...about, data: { reason: 'requested' } });
    return viewWebhook(webhook);
  });
}
