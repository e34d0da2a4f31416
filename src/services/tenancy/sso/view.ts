import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import { affectedView } from './affected.ts';

export const ssoView = z.object({
  emailDomain: z.string().nullable(),
  issuer: z.string(),
  clientId: z.string(),
  hasClientSecret: z.boolean(),
  redirectUri: z.string(),
  enabled: z.boolean(),
  syncOnLogin: z.boolean(),
  groupsClaim: z.string(),
  autoRemove: z.boolean(),
  absentGroups: z.enum(['unknown', 'none']),
  ignoreEmailVerified: z.boolean(),
  requireLocalTwoFactor: z.boolean(),
});

export const ssoDisabledView = ssoView.extend(affectedView.shape);

/** The people that a change of provider affects; they are linked again when they next sign in. */
export const ssoRelinkedView = z.object({
  fromIssuer: z.string(),
  issuer: z.string(),
  people: z.array(z.string()),
  sessionsEnded: z.int(),
});

/**
 * The URL that the provider sends people back to: the connection's own, or the instance's
 * (spec §2.2).
 */
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
