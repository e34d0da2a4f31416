import { Op } from 'sequelize';
import { secondsOf } from '../../../config/duration.ts';
import type { Context } from '../../../context.ts';
import { WebhookDelivery } from '../../../database/models/webhook-delivery.ts';
import { after } from '../../sessions/lifetimes.ts';

const deliveredSeconds = 7 * 24 * 3600;

/** Deletes deliveries a week after they were made, dead ones as late as events; call it inside a transaction. */
export async function sweepDeliveries(ctx: Context): Promise<void> {
  const kept = { delivered: deliveredSeconds, dead: secondsOf(ctx.config.events.retention) };
  for (const [status, seconds] of Object.entries(kept)) {
    await WebhookDelivery.destroy({ where: { status, endedAt: { [Op.lt]: after(ctx.now, -seconds) } } });
  }
}
