import { z } from 'zod';
import { connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { SealedColumn } from '../../../crypto/seal.ts';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import { viewOf } from '../../foundation/fields.ts';
import type { Pointing } from './approval.ts';
import type { GroupRules } from './groups.ts';

// The stored single sign-on connection: its settings and its secret, and how to read them.

const { sso } = connectionKinds;

/** The settings of a connection, except its secret. */
export const ssoSettings = z.object({
  emailDomain: z.string().nullable(),
  issuer: z.string(),
  clientId: z.string(),
  redirectUri: z.string(),
  enabled: z.boolean(),
  syncOnLogin: z.boolean(),
  groupsClaim: z.string(),
  autoRemove: z.boolean(),
  absentGroups: z.enum(['unknown', 'none']),
  ignoreEmailVerified: z.boolean(),
  requireLocalTwoFactor: z.boolean(),
});

/** The settings of a connection, except its secret. */
export function ssoSettingsOf(stored: SsoConnection) {
  const { emailDomain, ...settings } = viewOf(ssoSettings, stored);
  return { ...(emailDomain === null ? {} : { emailDomain }), ...settings };
}

/** The settings that decide which provider the connection trusts, and how far (security I8). */
const pointing = [
  'emailDomain',
  'issuer',
  'clientId',
  'redirectUri',
  'ignoreEmailVerified',
  'requireLocalTwoFactor',
] as const;

/** The redirect URI of the connection, or else of the instance (spec §2.2). */
export function redirectUriOf(
  ctx: Pick<Context, 'config'>,
  connection: Pick<SsoConnection, 'redirectUri'>,
): string {
  return connection.redirectUri ?? `${ctx.config.baseUrl}/auth/sso/callback`;
}

/** Where the connection points. The instance's own callback counts as null (security I8). */
export function whereSsoPoints(
  ctx: Pick<Context, 'config'>,
  connection: Pick<SsoConnection, (typeof pointing)[number]>,
): Pointing {
  const isOwn = redirectUriOf(ctx, connection) === redirectUriOf(ctx, { redirectUri: null });
  const points = Object.fromEntries(pointing.map((name) => [name, connection[name]]));
  return isOwn ? { ...points, redirectUri: null } : points;
}

/** How the groups of its claims count. */
export function ssoGroups({
  enabled: gives,
  autoRemove,
  syncOnLogin: everyTime,
}: Pick<SsoConnection, 'enabled' | 'autoRemove' | 'syncOnLogin'>): GroupRules {
  return { gives, autoRemove, everyTime, searchBase: null };
}

const columnOf = (connectionId: string): SealedColumn => ({
  table: 'sso_connections',
  column: 'client_secret',
  row: connectionId,
});

/** Seals the client secret for storage, bound to its connection. */
export function sealClientSecret(ctx: Context, connectionId: string, secret: string): string {
  return ctx.keyring.seal(secret, columnOf(connectionId));
}

/** Opens the client secret. Send it only to the provider's token endpoint. */
export function openClientSecret(ctx: Context, connection: SsoConnection): string {
  return ctx.keyring.open(connection.clientSecret, columnOf(connection.id));
}

/** The connection as the subject of an event. */
export function aboutSso({ id, organizationId, emailDomain, issuer }: SsoConnection) {
  return { organizationId, subject: { type: sso.name, id, name: emailDomain ?? issuer } };
}
