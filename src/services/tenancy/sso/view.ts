import type { Context } from '../../../context.ts';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';

/** Where the provider sends people back to: the connection's own address, or the instance's (spec §2.2). */
export function redirectUriOf(
  ctx: Pick<Context, 'config'>,
  connection: Pick<SsoConnection, 'redirectUri'>,
): string {
  return connection.redirectUri ?? `${ctx.config.baseUrl}/auth/sso/callback`;
}

/** A connection without its secret. */
export function viewSso(ctx: Context, connection: SsoConnection) {
  return {
    emailDomain: connection.emailDomain,
    issuer: connection.issuer,
    clientId: connection.clientId,
    hasClientSecret: true,
    redirectUri: redirectUriOf(ctx, connection),
    enabled: connection.enabled,
    syncOnLogin: connection.syncOnLogin,
    groupsClaim: connection.groupsClaim,
    autoRemove: connection.autoRemove,
    absentGroups: connection.absentGroups,
    ignoreEmailVerified: connection.ignoreEmailVerified,
    requireLocalTwoFactor: connection.requireLocalTwoFactor,
  };
}
