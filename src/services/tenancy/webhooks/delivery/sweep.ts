import { Op } from 'sequelize';
import { secondsOf } from '../../../../config/duration.ts';
import type { Context } from '../../../../context.ts';
import { WebhookDelivery } from '../../../../database/models/webhook-delivery.ts';
import { after } from '../../../foundation/time.ts';

const deliveredSeconds = 7 * 24 * 3600;

/**
 * Deletes deliveries a week after they were made, dead ones as late as events, and so those that wait for a webhook which
 * is off; call it inside a transaction.
 */
export async function sweepDeliveries(ctx: Context): Promise<void> {
  const week = { [Op.lt]: after(ctx.now, -deliveredSeconds) };
  const retained = { [Op.lt]: after(ctx.now, -secondsOf(ctx.config.events.retention)) };
  await WebhookDelivery.destroy({ where: { status: 'delivered', endedAt: week } });
  await WebhookDelivery.destroy({ where: { status: 'dead', endedAt: retained } });
  await WebhookDelivery.destroy({ where: { status: 'waiting', at: retained } });
}
