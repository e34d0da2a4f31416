import { isLoopback } from '../../../config/listen.ts';
import type { Context } from '../../../context.ts';
import { SpentState } from '../../../database/models/spent-state.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import { signInFailed } from '../../people/sessions/failed.ts';
import { claimCode } from './claim-code.ts';
import { type Flow, type FlowState, isSameBrowser, readState } from './state.ts';
import { type CallbackPlaces, callbackPlaces } from './under-way.ts';

/** The parts of a callback that are the same for every provider. */
interface Returned {
  state?: string | undefined;
  code?: string | undefined;
  /** The flow cookie. */
  flow?: string | undefined;
  fromBrowser: boolean;
}

/**
 * Runs `work` with the state if it is ours, unexpired, from this browser and unused. It uses the
 * state up (security S2, S3) and binds the returned code to its provider (security S5). If too many
 * callbacks wait for the provider, it refuses `overloaded` and uses nothing up (security S9).
 */
export async function acceptState<T>(
  ctx: Context,
  kind: Flow,
  returned: Returned,
  work: (state: FlowState) => Promise<T>,
): Promise<T> {
  const state = returned.state === undefined ? null : readState(ctx, kind, returned.state);
  if (state === null) throw signInFailed('state_invalid');
  if (bindsBrowser(ctx, returned.fromBrowser) && !isSameBrowser(ctx, state, returned.flow)) {
    throw signInFailed('other_browser');
  }
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

/**
 * A browser must always send its cookie. So must every client if the connection to idctl is not
 * encrypted.
 */
function bindsBrowser(ctx: Context, fromBrowser: boolean): boolean {
  const { protocol, hostname } = new URL(ctx.config.baseUrl);
  return fromBrowser || (protocol === 'http:' && !isLoopback(hostname));
}

async function spend(state: FlowState, places: CallbackPlaces): Promise<void> {
  const spending = transaction(async () => {
    await refusingDuplicate(
      SpentState.create({ id: state.id, expiresAt: new Date(state.expires * 1000) }),
      {
        message: 'This sign-in was finished already.',
      },
    );
    // Last, so that a refusal rolls the use of the state back.
    places.take();
  });
  await spending.catch((error: unknown) => {
    throw error instanceof Refusal && error.code === 'already_exists'
      ? signInFailed('state_replayed')
      : error;
  });
}
