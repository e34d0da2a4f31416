import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { assertNoTransaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { remembered } from '../../../host/memory.ts';
import { createTurns } from '../../../host/turns.ts';

// One organization must not delay the others (security O15). Work that computes for long, or that
// waits for the network, takes its turn. The organizations that one account created share a turn.

/** What the work does for long: it computes, waits for the network, or sends a file. */
export type TurnKind = 'computing' | 'network' | 'download';

const patience = 5000;

/** The turns of long work and of requests with a large body. */
export const turnsOf = remembered(() => ({
  computing: createTurns({ each: 1, all: 2 }),
  network: createTurns({ each: 2, all: 20 }),
  /** Files on their way. A slow client keeps its place, so others do not wait for it. */
  download: createTurns({ each: 2, all: Number.POSITIVE_INFINITY }),
  /** Bodies on their way, by sender. */
  arriving: createTurns({ each: 8, all: Number.POSITIVE_INFINITY }),
  /** Bodies in memory until they are answered, by account. Parsing takes ten times their size. */
  body: createTurns({ each: 2, all: 8 }),
  /** Bodies of SCIM in memory until they are answered, by organization. */
  push: createTurns({ each: 2, all: 8 }),
}));

type Waiting = Pick<Context, 'memory' | 'actor'>;

type Tenant = Pick<Organization, 'id' | 'createdBy'>;

/** The key of an organization's turns. Each organization that the operator created has its own. */
export function turnKeyOf({ id, createdBy }: Tenant): string {
  return createdBy ?? id;
}

/**
 * Runs the work when it is the organization's turn. Refuses with `overloaded` if that takes longer
 * than five seconds. The operator does not wait. Check the authority first.
 */
export async function inTurn<T>(
  { memory, actor }: Waiting,
  kind: TurnKind,
  organization: Tenant,
  work: () => Promise<T>,
): Promise<T> {
  if (actor.kind === 'operator') return work();
  assertNoTransaction('waiting for a turn');
  return turnsOf({ memory })[kind].run(turnKeyOf(organization), work, {
    patience,
    late: () => tooBusy[kind](),
  });
}

/** Runs a part of a job when it is the organization's turn, however long that takes. */
export function inTurnOfJob<T>(
  process: Pick<Context, 'memory'>,
  organization: Tenant,
  work: () => Promise<T>,
): Promise<T> {
  assertNoTransaction('waiting for a turn');
  return turnsOf(process).computing.run(turnKeyOf(organization), work);
}

const hint = 'Wait until an earlier request has ended, then try again.';

/** How long a request waits until its large body is read. */
export const largeBodyLate = {
  patience,
  late: () =>
    new Refusal('overloaded', 'Other requests with large bodies are still running.', {
      hint,
      retryAfter: 5,
    }),
};

const tooBusy: Record<TurnKind, () => Refusal> = {
  computing: () =>
    new Refusal('overloaded', 'Plans, imports or exports are still running.', {
      hint,
      retryAfter: 5,
    }),
  network: () =>
    new Refusal('overloaded', 'Tests of connections or domains are still running.', {
      hint,
      retryAfter: 10,
    }),
  download: () =>
    new Refusal('overloaded', 'Two downloads of the organization are still running.', {
      hint,
      retryAfter: 10,
    }),
};
