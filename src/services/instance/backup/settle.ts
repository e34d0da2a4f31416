import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account } from '../../../database/models/account.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { Client } from '../../../database/models/client.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { OutboxItem } from '../../../database/models/outbox-item.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { ClientSignOut, ProviderRecord } from '../../../database/models/provider-record.ts';
import { SamlAnswer } from '../../../database/models/saml-answer.ts';
import { ScimToken } from '../../../database/models/scim-token.ts';
import { SetupLink } from '../../../database/models/setup-link.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { WebhookDelivery } from '../../../database/models/webhook-delivery.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { plantCanary } from '../../foundation/keys/open.ts';
import { deleteAllRecoveryCodes } from '../../people/codes/recovery-code.ts';
import { endSignIns } from '../../people/credentials/credentials.ts';
import { hasWayIn } from '../../tenancy/signin-settings/ways.ts';
import type { backupHeader, restoredView } from './container.ts';

type Settled = Pick<z.input<typeof restoredView>, 'ended' | 'suspended' | 'disabled' | 'shutOut'>;

/**
 * Ends sessions and setup links, deletes unfinished sign-ins, bot tokens and pending invitations,
 * and cancels unsent messages, so that the restore does not revive them. Suspends tokens, apps,
 * client secrets, SCIM tokens and passkeys, because some may have been revoked since the backup.
 * Disables webhooks, because a test copy must not send to their receivers. Deletes recovery codes: a
 * used one would be valid again. With `keepTokens`, all tokens, apps, client secrets, passkeys,
 * recovery codes, invitations and webhooks stay. Afterwards, the database belongs to this master
 * key.
 */
export async function settleRestored(
  ctx: Context,
  { header, keepTokens }: { header: z.output<typeof backupHeader>; keepTokens: boolean },
): Promise<Settled> {
  requireOperator(ctx);
  // If the key file holds several keys, seals with the key that the backup names.
  ctx.keyring.sealWith(header.keyId);
  return transaction(async () => {
    // This comes first, so that clients are not notified that these sessions ended.
    await forgetClientSessions();
    const sessions = await endSignIns(ctx, 'everyone');
    const setupLinks = await SetupLink.destroy({ where: {} });
    await SamlAnswer.destroy({ where: {} });
    await holdBack(ctx);
    // This comes before the events of organizations, so that webhooks do not send these events.
    const webhooks = keepTokens ? 0 : await disableWebhooks(ctx);
    const tokens = keepTokens ? none : await suspendTokens(ctx);
    const settled = {
      ended: {
        sessions,
        setupLinks,
        botTokens: tokens.botTokens,
        invitations: tokens.invitations,
        recoveryCodes: tokens.recoveryCodes,
      },
      suspended: {
        tokens: tokens.personal,
        apps: tokens.apps,
        clients: tokens.clients,
        scimTokens: tokens.scim,
        passkeys: tokens.passkeys,
      },
      disabled: { webhooks },
    };
    const { createdAt: madeAt, version } = header;
    await recordEvent(ctx, {
      kind: 'backup.restored',
      data: { madeAt, version, keepTokens, ...settled },
    });
    await plantCanary(ctx.keyring, ctx.now);
    return { ...settled, shutOut: tokens.passkeys === 0 ? [] : await findShutOut(ctx) };
  });
}

const none = {
  botTokens: 0,
  invitations: 0,
  personal: 0,
  apps: 0,
  clients: 0,
  scim: 0,
  passkeys: 0,
  recoveryCodes: 0,
};

/**
 * Deletes the records of sign-ins at clients. The sign-ins continue at the original instance, so
 * the restored copy must not end them.
 */
async function forgetClientSessions(): Promise<void> {
  await ProviderRecord.destroy({ where: {} });
  await ClientSignOut.destroy({ where: {} });
}

/** Cancels old messages: they were sent since the backup, or the original instance sends them. */
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
  const [clients] = await Client.update(
    { suspendedAt },
    { where: { ...where, secretHash: { [Op.ne]: null } } },
  );
  const scimTokens = await ScimToken.findAll({ where });
  for (const { organizationId, prefix: name } of scimTokens) {
    const subject = { type: 'scimToken', id: organizationId, name };
    await recordEvent(ctx, { kind: 'scim.token.suspended', organizationId, subject });
  }
  const [scim] = await ScimToken.update({ suspendedAt }, { where });
  const invitations = await Invitation.destroy({ where: { acceptedAt: null } });
  // They still count as a second factor, so a restore never weakens a sign-in.
  const [passkeys] = await Passkey.update({ suspendedAt }, { where });
  const recoveryCodes = await deleteAllRecoveryCodes();
  return { botTokens, invitations, personal, apps, clients, scim, passkeys, recoveryCodes };
}

/** The people whose only way to sign in was a passkey, which is suspended now. */
async function findShutOut(ctx: Context): Promise<string[]> {
  const where = { hasPasskey: true, passwordHash: null, disabledAt: null };
  const shutOut: string[] = [];
  for (const account of await Account.findAll({ where, order: ['id'] }))
    if (!(await hasWayIn(ctx, account))) shutOut.push(account.email ?? account.name);
  return shutOut;
}
