import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { Counter } from '../../../database/models/counter.ts';
import { ScimRequest } from '../../../database/models/scim-request.ts';
import { SpentState } from '../../../database/models/spent-state.ts';
import { SsoAttempt } from '../../../database/models/sso-attempt.ts';
import { refreshStatistics } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { sweepEvents } from '../../foundation/events/operations.ts';
import { dropSpentKeys } from '../../foundation/keys/operations.ts';
import { reseal } from '../../foundation/keys/reseal.ts';
import { epochSeconds } from '../../foundation/limits/limit.ts';
import { after } from '../../foundation/time.ts';
import { sweepCredentials } from '../../people/credentials/credentials.ts';
import { attemptDays } from '../../signin/attempts/attempt.ts';
import { sweepDeliveries } from '../../tenancy/webhooks/delivery/deliver.ts';
import { sweepUnconfirmed } from './unconfirmed.ts';

/**
 * Deletes obsolete rows: expired sessions with their refresh tokens, unneeded signing keys, expired
 * bot tokens, states, codes and invitations. Also old attempts, SCIM requests, deliveries and
 * counts, unverified accounts, and events older than `events.retention`.
 */
export async function sweepExpired(ctx: Context): Promise<void> {
  await transaction(async () => {
    await SpentState.destroy({ where: { expiresAt: { [Op.lt]: ctx.now } } });
    await sweepCredentials(ctx);
    await dropSpentKeys(ctx);
    await Counter.destroy({ where: { expiresAt: { [Op.lt]: epochSeconds(ctx.now) } } });
    const old = { where: { at: { [Op.lt]: after(ctx.now, -attemptDays * 86_400) } } };
    await SsoAttempt.destroy(old);
    await ScimRequest.destroy(old);
    await sweepDeliveries(ctx);
  });
  await sweepUnconfirmed(ctx);
  await sweepEvents(ctx);
  // Re-seals values sealed while another process replaced the master key (security X1).
  await reseal(ctx);
  await refreshStatistics();
}
