import type { Context } from '../../context.ts';
import { SsoConnection } from '../../database/models/sso-connection.ts';
import type { FlowState } from '../redirect/state.ts';
import { signInFailed } from '../sessions/failed.ts';
import { isTrusted } from './trusted.ts';
import { redirectUriOf } from './view.ts';

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
