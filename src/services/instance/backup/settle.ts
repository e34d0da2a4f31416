import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { OutboxItem } from '../../../database/models/outbox-item.ts';
import { ScimToken } from '../../../database/models/scim-token.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { WebhookDelivery } from '../../../database/models/webhook-delivery.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { plantCanary } from '../../foundation/keys/canary.ts';
import { endSignIns } from '../../people/credentials/credentials.ts';
import type { backupHeader, restoredView } from './schema.ts';

type Settled = Pick<z.input<typeof restoredView>, 'ended' | 'suspended' | 'disabled'>;

/**
 * Ends in a restored database what it would revive: sessions and everything on the way to one, bot tokens, invitations,
 * what waits to be sent; and suspends tokens, apps and SCIM tokens, of which some may have been revoked since the backup
 * was made; and switches webhooks off, for a copy on trial is not to speak to whom the instance speaks to. With `keepTokens`
 * tokens of all kinds, apps, invitations and webhooks stay as they are. After it, the database is this master key's.
 */
export async function settleRestored(
  ctx: Context,
  { header, keepTokens }: { header: z.output<typeof backupHeader>; keepTokens: boolean },
): Promise<Settled> {
  requireOperator(ctx);
  // Of several in the key file, the one that the instance had.
  ctx.keyring.sealWith(header.keyId);
  return transaction(async () => {
    const sessions = await endSignIns(ctx, 'everyone');
    await holdBack(ctx);
    // Before all that is an event of some organization: nothing of this is sent either.
    const webhooks = keepTokens ? 0 : await disableWebhooks(ctx);
    const tokens = keepTokens ? none : await suspendTokens(ctx);
    const settled = {
      ended: { sessions, botTokens: tokens.botTokens, invitations: tokens.invitations },
      suspended: { tokens: tokens.personal, apps: tokens.apps, scimTokens: tokens.scim },
      disabled: { webhooks },
    };
    const { createdAt: madeAt, version } = header;
    await recordEvent(ctx, {
      kind: 'backup.restored',
      data: { madeAt, version, keepTokens, ...settled },
    });
    await plantCanary(ctx.keyring, ctx.now);
    return settled;
  });
}

const none = { botTokens: 0, invitations: 0, personal: 0, apps: 0, scim: 0 };

/** What waited to be sent when the backup was made was sent since, or is not this instance's to send. */
async function holdBack({ now }: Context): Promise<void> {
  await OutboxItem.destroy({ where: {} });
  const ended = {
    status: 'dead' as const,
    nextAt: null,
    endedAt: now,
    error: 'restored from a backup',
  };
  await WebhookDelivery.update(ended, { where: { status: 'waiting' } });
}

async function disableWebhooks(ctx: Context): Promise<number> {
  const webhooks = await Webhook.findAll({ where: { enabled: true }, order: ['id'] });
  await Webhook.update({ enabled: false }, { where: {} });
  for (const { id, organizationId, url: name } of webhooks) {
    const about = { organizationId, subject: { type: 'webhook', id, name } };
    await recordEvent(ctx, { kind: 'webhook.disabled', ...about, data: { reason: 'restored' } });
  }
  return webhooks.length;
}

async function suspendTokens(ctx: Context): Promise<typeof none> {
  const suspendedAt = ctx.now;
  const where = { suspendedAt: null };
  const botTokens = await AccessToken.destroy({ where: { kind: 'bot' } });
  const [personal] = await AccessToken.update({ suspendedAt }, { where });
  const [apps] = await OAuthApp.update({ suspendedAt }, { where });
  const scimTokens = await ScimToken.findAll({ where });
  for (const { organizationId, prefix: name } of scimTokens) {
    const subject = { type: 'scimToken', id: organizationId, name };
    await recordEvent(ctx, { kind: 'scim.token.suspended', organizationId, subject });
  }
  const [scim] = await ScimToken.update({ suspendedAt }, { where });
  const invitations = await Invitation.destroy({ where: { acceptedAt: null } });
  return { botTokens, invitations, personal, apps, scim };
}
