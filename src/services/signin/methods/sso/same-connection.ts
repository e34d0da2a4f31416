import { Transaction } from 'sequelize';
import type { Context } from '../../../../context.ts';
import { SsoConnection } from '../../../../database/models/sso-connection.ts';
import { signInFailed } from '../../../people/sessions/sign-in.ts';
import { isTrusted, redirectUriOf } from '../../../tenancy/sso/connection.ts';
import type { FlowState } from '../../redirect/state.ts';

/**
 * The connection as it is now, if the state was made for it (security S6). Inside a transaction it
 * cannot be removed until that ends, so that no session outlives it.
 */
export async function requireSameConnection(
  ctx: Context,
  state: FlowState,
): Promise<SsoConnection> {
  const seen = requireSame(ctx, state, await SsoConnection.findByPk(state.connection));
  if (!(await isTrusted(ctx, seen))) throw signInFailed('domain_not_verified');
  // Locked after the domain, in the same order as all code that locks both.
  const lock = Transaction.LOCK.KEY_SHARE;
  const held = requireSame(ctx, state, await SsoConnection.findByPk(state.connection, { lock }));
  if (held.emailDomain !== seen.emailDomain) throw signInFailed('connection_changed');
  return held;
}

function requireSame(
  ctx: Context,
  state: FlowState,
  connection: SsoConnection | null,
): SsoConnection {
  const same =
    connection?.enabled === true &&
    connection.issuer === state.issuer &&
    connection.clientId === state.clientId &&
    redirectUriOf(ctx, connection) === state.redirectUri;
  if (connection === null || !same) throw signInFailed('connection_changed');
  return connection;
}
