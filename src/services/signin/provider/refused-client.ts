import { networkOf } from '../../../address.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { tallyEvent } from '../../foundation/events/record.ts';
import { requireRoom, spend } from '../../foundation/limits/limit.ts';
import { refusedClientsLimit } from '../../people/apps/client.ts';
import { eventOfClient } from '../../tenancy/clients/client.ts';
import type { ProviderVisit } from './visit.ts';

/** Counts a refused client by its network, like an app; if there are too many, that is the fault. */
export async function countRefusal(visit: ProviderVisit): Promise<void> {
  const { ctx, clients } = visit;
  const limits = [refusedClientsLimit(ctx)];
  try {
    await requireRoom(ctx, limits);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    visit.fault = error;
    return;
  }
  await spend(ctx, limits);
  const [client] = clients.values();
  if (client === undefined) return;
  const { id } = client;
  const what = {
    kind: 'client.refused' as const,
    ...eventOfClient(client),
    data: { reason: client.suspended ? 'suspended' : 'wrong_secret' },
  };
  await transaction(() => tallyEvent(ctx, what, { of: id, apart: networkOf(ctx.client.address) }));
}
