import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { SpentState } from '../../database/models/spent-state.ts';
import { SsoConnection } from '../../database/models/sso-connection.ts';
import { transaction } from '../../database/transaction.ts';
import { refusingDuplicate } from '../../database/unique.ts';
import { Refusal } from '../../errors.ts';
import { signInFailed } from '../sessions/failed.ts';
import { claimCode } from './claim-code.ts';
import type { finishSsoInput } from './schema.ts';
import { type FlowState, isSameBrowser, readState } from './state.ts';
import { isTrusted } from './trusted.ts';
import { redirectUriOf } from './view.ts';

/**
 * The state if it is ours, unexpired, from this browser and not used before; it is used up by this (security S2, S3),
 * and the code that came with it is bound to its provider (security S5).
 */
export async function acceptState(ctx: Context, input: z.output<typeof finishSsoInput>): Promise<FlowState> {
  const state = input.state === undefined ? null : readState(ctx, input.state);
  if (state === null) throw signInFailed('state_invalid');
  if (bindsBrowser(ctx, input.fromBrowser) && !isSameBrowser(ctx, state, input.flow)) {
    throw signInFailed('other_browser');
  }
  await spend(state);
  const { code } = input;
  const claimed = code === undefined || (await transaction(() => claimCode(ctx, state, code)));
  if (!claimed) throw signInFailed('code_of_another_provider');
  return state;
}

/** The connection as it is now, if it is still the one the state was made for (security S6). */
export async function requireSameConnection(ctx: Context, state: FlowState): Promise<SsoConnection> {
  const connection = await SsoConnection.findByPk(state.connection);
  const same =
    connection?.enabled === true &&
    connection.issuer === state.issuer &&
    connection.clientId === state.clientId &&
    redirectUriOf(ctx, connection) === state.redirectUri;
  if (connection === null || !same) throw signInFailed('connection_changed');
  if (!(await isTrusted(ctx, connection))) throw signInFailed('domain_not_verified');
  return connection;
}

/** A browser always shows its cookie; so must everyone where the way here is not encrypted. */
function bindsBrowser(ctx: Context, fromBrowser: boolean): boolean {
  const { protocol, hostname } = new URL(ctx.config.baseUrl);
  return fromBrowser || (protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname));
}

async function spend(state: FlowState): Promise<void> {
  const spending = transaction(() =>
    refusingDuplicate(SpentState.create({ id: state.id, expiresAt: new Date(state.expires * 1000) }), {
      message: 'This sign-in was finished already.',
    }),
  );
  await spending.catch((error: unknown) => {
    throw error instanceof Refusal && error.code === 'already_exists'
      ? signInFailed('state_replayed')
      : error;
  });
}
