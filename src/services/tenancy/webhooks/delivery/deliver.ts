import { randomInt, randomUUID } from 'node:crypto';
import { Op } from 'sequelize';
import { secondsOf } from '../../../../config/duration.ts';
import type { Context, Turn } from '../../../../context.ts';
import { idOfInstant } from '../../../../crypto/id.ts';
import { deleteOld, type Stop } from '../../../../database/delete-batches.ts';
import { Webhook } from '../../../../database/models/webhook.ts';
import { WebhookDelivery } from '../../../../database/models/webhook-delivery.ts';
import { unsynced } from '../../../../database/transaction.ts';
import { finishAll } from '../../../../host/queue.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import { after } from '../../../foundation/time.ts';
import { type Outcome, sendMessage } from '../webhook.ts';
import { findDue, hasStatus } from './deliver.sql.ts';
import { planAfter } from './plan.ts';

// One daemon at a time delivers to a webhook, one message after the other. The daemon has a lease
// and renews it with every result. If the daemon dies, another one sends the message again once the
// lease has expired.

/** Longer than any attempt takes, plus the clock differences between hosts. */
const leaseSeconds = 20;
const maxAtOnce = 20;

interface Held {
  leaseId: string;
  webhook: Webhook;
  delivery: WebhookDelivery;
}

/**
 * Sends the messages that are due: in order to each webhook, and to many webhooks at the same time.
 */
export async function deliverWebhooks(ctx: Context, turn: Turn): Promise<void> {
  const due = await findDue(ctx.now, maxAtOnce);
  const claims = due.map((id) => claim(turn.anew(), id));
  void Promise.allSettled(claims).then(turn.found);
  await finishAll(claims.map((claimed) => serve(claimed, turn)));
}

async function serve(claimed: Promise<Held | null>, turn: Turn): Promise<void> {
  let held = await claimed;
  while (held !== null) {
    const outcome = await sendMessage(turn.anew(), held.webhook, held.delivery, turn.stop);
    held = outcome === null ? await release(held) : await settle(turn, held, outcome);
  }
}

/** Leases the webhook for this run, unless another run has it or nothing is left to send. */
async function claim(ctx: Context, id: string): Promise<Held | null> {
  const leaseId = randomUUID();
  const free = { [Op.or]: [{ leasedUntil: null }, { leasedUntil: { [Op.lte]: ctx.now } }] };
  return unsynced(async () => {
    const lease = { leaseId, leasedUntil: after(ctx.now, leaseSeconds) };
    const [claimed] = await Webhook.update(lease, { where: { id, ...free } });
    return claimed === 0 ? null : next(ctx, id, leaseId);
  });
}

/** Records the result of an attempt, and keeps the lease if there is more to send. */
async function settle(turn: Turn, held: Held, outcome: Outcome): Promise<Held | null> {
  const ctx = turn.anew();
  const { webhook, delivery, leaseId } = held;
  const { attempts } = delivery;
  const { failingSince } = webhook;
  const jitter = randomInt(1000) / 1000;
  const plan = planAfter(outcome, { attempts, failingSince, now: ctx.now, jitter });
  return unsynced(async () => {
    const lease = { leasedUntil: after(ctx.now, leaseSeconds) };
    const ours = { where: { id: webhook.id, leaseId } };
    const [kept] = await Webhook.update({ ...plan.webhook, ...lease }, ours);
    // The webhook was removed in the meantime, or another run took over, and that run's result
    // counts.
    if (kept === 0) return null;
    await WebhookDelivery.update(plan.delivery, { where: { id: delivery.id } });
    if (plan.disabled !== null)
      await recordDisabled(ctx, webhook, plan.disabled, plan.webhook.failingSince);
    return turn.stop.aborted ? release(held) : next(ctx, webhook.id, leaseId);
  });
}

/** The next message for a leased webhook; if there is none, releases it and returns null. */
async function next(ctx: Context, id: string, leaseId: string): Promise<Held | null> {
  const webhook = await Webhook.findOne({ where: { id, leaseId } });
  if (webhook === null) return null;
  const resting =
    !webhook.enabled || (webhook.pausedUntil !== null && webhook.pausedUntil > ctx.now);
  const due = { webhookId: id, status: 'waiting', nextAt: { [Op.lte]: ctx.now } };
  const delivery = resting ? null : await WebhookDelivery.findOne({ where: due, order: ['id'] });
  return delivery === null ? release({ webhook, leaseId }) : { webhook, delivery, leaseId };
}

async function release({ webhook, leaseId }: Omit<Held, 'delivery'>): Promise<null> {
  const free = { leaseId: null, leasedUntil: null };
  await unsynced(() => Webhook.update(free, { where: { id: webhook.id, leaseId } }));
  return null;
}

function recordDisabled(
  ctx: Context,
  { id, organizationId, url }: Webhook,
  reason: 'gone' | 'failing',
  failingSince: Date | null,
): Promise<void> {
  return recordEvent(ctx, {
    kind: 'webhook.disabled',
    organizationId,
    subject: { type: 'webhook', id, name: url },
    data: {
      reason,
      ...(failingSince === null ? {} : { failingSince: failingSince.toISOString() }),
    },
  });
}

const deliveredSeconds = 7 * 24 * 3600;

/**
 * Deletes delivered messages after a week. Deletes dead messages, and messages that are still
 * waiting for a webhook, after `events.retention`, like events.
 */
export async function sweepDeliveries(ctx: Context, stop: Stop): Promise<void> {
  const week = after(ctx.now, -deliveredSeconds);
  const retained = after(ctx.now, -secondsOf(ctx.config.events.retention));
  const ended = (status: 'delivered' | 'dead', before: Date) =>
    deleteOld(WebhookDelivery, { column: 'ended_at', before, also: hasStatus(status) }, stop);
  await ended('delivered', week);
  await ended('dead', retained);
  // Ids are ordered by time, and hardly any delivery of this age has another status.
  const made = idOfInstant(retained.getTime());
  const waiting = { and: { column: 'at', before: retained }, also: hasStatus('waiting') };
  await deleteOld(WebhookDelivery, { column: 'id', before: made, ...waiting }, stop);
}
