import { transaction } from '../../../database/transaction.ts';
import { networkOf } from '../../../text/address.ts';
import { tallyEvent } from '../../foundation/events/record.ts';
import { countTry } from '../../foundation/limits/limit.ts';
import { refusedClientsLimit } from '../../people/apps/client.ts';
import { eventOfClient } from '../../tenancy/clients/client.ts';
import type { ProviderRequest } from './request.ts';

/** Counts and records a refused client, like a refused app. Refuses with `too_many_requests`. */
export async function countRefusal({ ctx, clients }: ProviderRequest): Promise<void> {
  const limits = [refusedClientsLimit(ctx)];
  await countTry(ctx, limits);
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
