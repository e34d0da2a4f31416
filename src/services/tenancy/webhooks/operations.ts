import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hold } from '../../../database/hold.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { WebhookDelivery } from '../../../database/models/webhook-delivery.ts';
import { isRehearsed, transaction } from '../../../database/transaction.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { counted } from '../../../text/words.ts';
import { requireAuthority, requireOperator } from '../../foundation/authority/require.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { id, ref } from '../../foundation/fields.ts';
import { requireCapRoom } from '../../foundation/limits/caps.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import { after } from '../../foundation/time.ts';
import {
  isTaken,
  newWebhookSecret,
  newWebhookView,
  type Outcome,
  openWebhookSecret,
  rotatedWebhookView,
  sealWebhookSecret,
  sendMessage,
  viewWebhook,
  webhookRemovedView,
  webhookSettings,
  webhookTestView,
  webhookView,
} from './webhook.ts';

// The webhooks that an organization's events are sent to (Standard Webhooks).

const overlapSeconds = 24 * 3600;

const refInput = z.strictObject({ org: ref, id });

/** Lists the organization's webhooks, without their secrets. */
export const listWebhooks = operation({
  authority: 'webhooks.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(webhookView),
  run: (_ctx, input, { organization }) =>
    readRows(Webhook, { where: { organizationId: organization.id } }, input, viewWebhook),
});

/** Adds a webhook and returns its signing secret, once. */
export const addWebhook = operation({
  authority: 'webhooks.change',
  input: z.strictObject({
    org: ref,
    url: webhookSettings.url,
    events: webhookSettings.events,
  }),
  output: newWebhookView,
  run: async (ctx, input, { organization }) => {
    // A dry run is a transaction, which must not use the network.
    if (!isRehearsed()) await requireReachable(ctx, input.url);
    return transaction(() => insertWebhook(ctx, organization, { ...input, enabled: true }));
  },
});

/** Writes a webhook, and returns it with its signing secret. Check the URL first. */
export async function insertWebhook(
  ctx: Context,
  organization: Organization,
  given: { url: string; events: string[]; enabled: boolean },
) {
  const { id: organizationId } = organization;
  await requireCapRoom(organization, 'webhooks');
  const id = orderedId();
  const secret = newWebhookSecret();
  const added = await Webhook.create({
    id,
    organizationId,
    url: given.url,
    events: storedKinds(given.events),
    secret: sealWebhookSecret(ctx, 'secret', id, secret),
    enabled: given.enabled,
    createdAt: ctx.now,
  });
  const data = { events: added.events ?? ['*'] };
  await recordEvent(ctx, { kind: 'webhook.added', ...about(added), data });
  return { ...viewWebhook(added), secret };
}

/** Refuses a URL that the outbound guard forbids. `field` names the input field of the URL. */
export async function requireReachable(ctx: Context, given: string, field = 'url'): Promise<void> {
  await ctx.outbound.judgeUrl(given).catch((error: unknown) => {
    // A forbidden address is the caller's mistake, not an upstream failure.
    if (!(error instanceof Refusal) || error.code !== 'outbound_refused') throw error;
    throw refuseField(field, error.message, error.hint);
  });
}

/** The kinds to store; null means every kind. */
function storedKinds(events: string[]): string[] | null {
  return events.includes('*') ? null : [...new Set(events)];
}

/**
 * Changes the kinds of events of a webhook, or enables or disables it. Waiting messages are sent
 * once the webhook is enabled again.
 */
export const changeWebhook = operation({
  authority: 'webhooks.change',
  input: refInput.extend({
    enabled: webhookSettings.enabled.unwrap(),
    events: webhookSettings.events.unwrap().optional(),
  }),
  output: webhookView,
  run: (ctx, { id: which, enabled, events }, { organization }) =>
    transaction(async () => {
      const webhook = await requireWebhook(organization, which);
      if (events !== undefined) {
        await webhook.update({ events: storedKinds(events) });
        const data = { events: webhook.events ?? ['*'] };
        await recordEvent(ctx, { kind: 'webhook.changed', ...about(webhook), data });
        if (webhook.enabled === enabled) return viewWebhook(webhook);
      }
      await webhook.update({
        enabled,
        ...(enabled ? { failingSince: null, pausedUntil: null } : {}),
      });
      const data = { reason: 'requested' as const };
      if (enabled) await recordEvent(ctx, { kind: 'webhook.enabled', ...about(webhook) });
      else await recordEvent(ctx, { kind: 'webhook.disabled', ...about(webhook), data });
      return viewWebhook(webhook);
    }),
});

/** Removes a webhook; its waiting messages are not sent. */
export const removeWebhook = operation({
  authority: 'webhooks.change',
  input: refInput,
  output: webhookRemovedView,
  ends: {
    ask: ({ url, waiting }) =>
      `Remove the webhook to ${url} and its ${counted(waiting, 'waiting event')}?`,
    done: ({ url }) => `Removed the webhook to ${url}.`,
  },
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      // The event below locks the other webhooks, so two removals would wait for each other.
      await hold.organization({ id: organization.id }, 'alone');
      const webhook = await requireWebhook(organization, input.id);
      const which = { webhookId: webhook.id, status: 'waiting' };
      const waiting = await WebhookDelivery.count({ where: which });
      await webhook.destroy();
      await recordEvent(ctx, { kind: 'webhook.removed', ...about(webhook), data: { waiting } });
      return { ...viewWebhook(webhook), waiting };
    }),
});

/** Gives a webhook a new secret, returned once; for a day the former secret also signs. */
export const rotateWebhook = operation({
  authority: 'webhooks.change',
  input: refInput,
  output: rotatedWebhookView,
  run: async (ctx, input, { organization }) => {
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
      const data = { previousUntil: previousUntil.toISOString() };
      await recordEvent(ctx, { kind: 'webhook.secret.rotated', ...about(webhook), data });
      return { ...viewWebhook(webhook), secret, ...data };
    });
  },
});

/** Sends a `webhook.test` message now, even to a disabled webhook, without storing it. */
export const testWebhook = operation({
  authority: 'webhooks.change',
  turn: 'network',
  input: refInput,
  output: webhookTestView,
  run: async (ctx, input, { organization }) => {
    const webhook = await requireWebhook(organization, input.id);
    const timestamp = ctx.now.toISOString();
    const data = { webhook: webhook.id, organization: organization.id };
    const body = JSON.stringify({ type: 'webhook.test', timestamp, data });
    const never = new AbortController().signal;
    const outcome = await sendMessage(ctx, webhook, { id: randomUUID(), body }, never);
    if (outcome === null) throw new Error('a message that cannot be aborted was aborted');
    return { ok: isTaken(outcome), message: wordsOf(outcome), responseStatus: outcome.status };
  },
});

function wordsOf(outcome: Outcome): string {
  if (outcome.status === null) return outcome.error;
  if (isTaken(outcome)) return `The webhook accepted the message and answered ${outcome.status}.`;
  return `The webhook answered ${outcome.status}. Only a status from 200 to 299 means delivered.`;
}

function about({ id, url, organizationId }: Webhook) {
  return eventAbout('webhook', { id, name: url }, organizationId);
}

/**
 * Requires the right to see the webhooks of `org`. Null if the operator does not name an
 * organization.
 */
export async function requireSeen(ctx: Context, org: string | undefined) {
  if (org !== undefined) return (await requireAuthority(ctx, 'webhooks.see', org)).organization;
  requireOperator(ctx);
  return null;
}

/** Finds the organization of a webhook. The operator may leave `org` out. */
export const locateWebhook = operation({
  authority: 'webhooks.see',
  prove: (ctx, { org }) => requireSeen(ctx, org),
  input: z.strictObject({ org: ref.optional(), id }),
  output: z.object({ org: id, id }),
  run: async (_ctx, { id: which }, organization) => {
    if (organization !== null) await requireWebhook(organization, which);
    const webhook = await Webhook.findByPk(which);
    if (webhook === null)
      throw new Refusal('not_found', `There is no webhook ${which}.`, {
        hint: { to: 'list the webhooks of an organization', operation: 'webhook.list' },
      });
    return { org: webhook.organizationId, id: which };
  },
});

/** The organization's webhook of this id; refuses with `not_found`. */
export async function requireWebhook(
  { id: organizationId, slug }: Organization,
  which: string,
): Promise<Webhook> {
  const webhook = await Webhook.findOne({ where: { id: which, organizationId } });
  if (webhook !== null) return webhook;
  throw new Refusal('not_found', `${slug} has no webhook ${which}.`, {
    hint: { to: 'list them', operation: 'webhook.list', with: { org: slug } },
  });
}
