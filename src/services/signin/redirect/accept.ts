import { createHash } from 'node:crypto';
import { networkOf } from '../../../address.ts';
import type { Context } from '../../../context.ts';
import { SpentState } from '../../../database/models/spent-state.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import { type Places, placesFor } from '../../foundation/limits/places.ts';
import { after } from '../../foundation/time.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { type Flow, type FlowState, type Returned, requireState, stateSeconds } from './state.ts';

/**
 * Runs `work` with the state if we made it, for this browser, and it is unexpired and unused.
 * Spends the state (security S2, S3) and binds the returned code to its provider (security S5). If
 * too many callbacks wait, refuses `overloaded` and spends nothing (security S9).
 */
export async function acceptState<T>(
  ctx: Context,
  kind: Flow,
  returned: Returned,
  work: (state: FlowState) => Promise<T>,
): Promise<T> {
  const state = requireState(ctx, kind, returned);
  const places = callbackPlaces(ctx, state.connection);
  try {
    await spend(state, places);
    const { code } = returned;
    const claimed = code === undefined || (await transaction(() => claimCode(ctx, state, code)));
    if (!claimed) throw signInFailed('code_of_another_provider');
    return await work(state);
  } finally {
    places.leave();
  }
}

async function spend(state: FlowState, places: Places): Promise<void> {
  const spending = transaction(async () => {
    const row = { id: state.id, expiresAt: new Date(state.expires * 1000) };
    const message = 'This sign-in was finished already.';
    await refusingDuplicate(SpentState.create(row), { message });
    // Last, so that a refusal rolls back the use of the state.
    places.take();
  });
  await spending.catch((error: unknown) => {
    throw error instanceof Refusal && error.code === 'already_exists'
      ? signInFailed('state_replayed')
      : error;
  });
}

// RFC 6749 §10.10 requires codes of 128 bits. A shorter code is no secret, and may repeat.
const shortest = 22;

/**
 * Claims the code for the provider it is about to be sent to; returns false if another provider
 * already got it. A dishonest provider can send people to an honest provider, and get their codes.
 * An attacker could use such a code in a sign-in through the honest provider (RFC 9700 §4.4,
 * security S5). Call it in a transaction of its own, before the network request.
 */
async function claimCode(ctx: Context, { issuer }: FlowState, code: string): Promise<boolean> {
  if (code.length < shortest) return true;
  const used = `code ${digest(code)}`;
  const usedHere = `${used} ${digest(issuer)}`;
  const found = await SpentState.findAll({ where: { id: [used, usedHere] } });
  if (found.length > 0) return found.some(({ id }) => id === usedHere);
  const expiresAt = after(ctx.now, stateSeconds);
  const rows = [used, usedHere].map((id) => ({ id, expiresAt }));
  await SpentState.bulkCreate(rows, { ignoreDuplicates: true });
  return true;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** How many callbacks may wait for a provider at once in one process (security S9). */
const mostWaiting = { client: 10, connection: 50 };

/** The two limits of a callback of this client, through this connection or social provider. */
function callbackPlaces(ctx: Context, connection: string): Places {
  const wanted: [string, number][] = [
    [`client ${networkOf(ctx.client.address)}`, mostWaiting.client],
    [`connection ${connection}`, mostWaiting.connection],
  ];
  return placesFor(ctx, wanted, tooMany);
}

function tooMany(): Refusal {
  return new Refusal('overloaded', 'Too many sign-ins are waiting for this provider.', {
    hint: 'Reload this page in a few seconds to finish your sign-in.',
    retryAfter: 5,
  });
}
