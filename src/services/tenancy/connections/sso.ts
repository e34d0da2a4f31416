import { z } from 'zod';
import { connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { SealedColumn } from '../../../crypto/seal.ts';
import {
  type SsoConnection,
  type StoredMetadata,
  ssoKinds,
} from '../../../database/models/sso-connection.ts';
import { viewOf } from '../../foundation/fields.ts';
import type { Pointing } from './approval.ts';
import type { GroupRules } from './groups.ts';

// The stored single sign-on connection: its settings and its secret, and how to read them.

const { sso } = connectionKinds;

/** The settings that connections of every kind have. */
const common = {
  kind: z.enum(ssoKinds),
  emailDomain: z.string().nullable(),
  enabled: z.boolean(),
  syncOnLogin: z.boolean(),
  autoRemove: z.boolean(),
  absentGroups: z.enum(['unknown', 'none']),
  requireLocalTwoFactor: z.boolean(),
};

const oidc = {
  issuer: z.string(),
  clientId: z.string(),
  redirectUri: z.string(),
  groupsClaim: z.string(),
  ignoreEmailVerified: z.boolean(),
};

const saml = {
  metadataUrl: z.string().nullable(),
  emailAttribute: z.string().nullable(),
  groupsAttribute: z.string().nullable(),
  subjectAttribute: z.string().nullable(),
  encryptAssertions: z.boolean(),
};

/** The settings of a connection of each kind, except its secret and its metadata. */
export const ssoSettingsOfKind = {
  oidc: z.object({ ...common, ...oidc }),
  saml: z.object({ ...common, ...saml }),
};

const { kind, emailDomain, enabled, syncOnLogin, requireLocalTwoFactor, ...others } = common;
const { issuer, clientId, redirectUri, groupsClaim, ...claims } = z.object(oidc).partial().shape;
const { metadataUrl, ...attributes } = z.object(saml).partial().shape;

/** The settings of a connection of any kind, except its secret. Those of other kinds are absent. */
export const ssoSettings = z.object({
  ...{ kind, emailDomain, issuer, clientId, redirectUri, metadataUrl, enabled, syncOnLogin },
  ...{ groupsClaim, ...attributes, ...others, ...claims, requireLocalTwoFactor },
});

/** The settings of the connection's kind, except its secret and its metadata. */
export function ssoSettingsOf(stored: SsoConnection) {
  const { oidc, saml } = ssoSettingsOfKind;
  const all = stored.kind === 'oidc' ? viewOf(oidc, stored) : viewOf(saml, stored);
  const { emailDomain, ...settings } = all;
  return { ...(emailDomain === null ? {} : { emailDomain }), ...settings };
}

/** The settings that a connection of another kind has too. */
export function commonSettingsOf(stored: SsoConnection) {
  const { kind: _, emailDomain, ...settings } = viewOf(z.object(common), stored);
  return { ...(emailDomain === null ? {} : { emailDomain }), ...settings };
}

/** The settings that decide which provider the connection trusts, and how far (security I8). */
const pointing = {
  oidc: [
    'emailDomain',
    'issuer',
    'clientId',
    'redirectUri',
    'ignoreEmailVerified',
    'requireLocalTwoFactor',
  ],
  saml: [
    'kind',
    'emailDomain',
    'metadataUrl',
    'emailAttribute',
    'subjectAttribute',
    'requireLocalTwoFactor',
  ],
} as const;

/** The redirect URI of the connection, or else of the instance (spec §2.2). */
export function redirectUriOf(
  ctx: Pick<Context, 'config'>,
  connection: Pick<SsoConnection, 'redirectUri'>,
): string {
  return connection.redirectUri ?? `${ctx.config.baseUrl}/auth/sso/callback`;
}

type PointingRow = Pick<
  SsoConnection,
  (typeof pointing)['oidc' | 'saml'][number] | 'issuer' | 'redirectUri' | 'metadata'
>;

/** Where the connection points (security I8). */
export function whereSsoPoints(ctx: Pick<Context, 'config'>, connection: PointingRow): Pointing {
  const points = Object.fromEntries(
    pointing[connection.kind].map((name) => [name, connection[name]]),
  );
  if (connection.kind === 'saml') return { ...points, ...whereMetadataPoints(connection) };
  // The instance's own callback counts as null.
  const isOwn = redirectUriOf(ctx, connection) === redirectUriOf(ctx, { redirectUri: null });
  return isOwn ? { ...points, redirectUri: null } : points;
}

/**
 * The metadata of a URL may change, except its entity ID. Metadata that was given as text points
 * with its certificates too.
 */
function whereMetadataPoints({ issuer, metadataUrl, metadata }: PointingRow): Pointing {
  const given = metadataUrl === null ? metadata : null;
  return {
    entityId: issuer,
    ssoUrl: given?.ssoUrl ?? null,
    certificates: given && fingerprintsOf(given),
  };
}

/** The names of pointing values that follow from the metadata. */
export const metadataNames = ['metadataUrl', 'entityId', 'ssoUrl', 'certificates'] as const;

/** The fingerprints of the certificates of the metadata, as one text. */
export function fingerprintsOf({ certificates }: StoredMetadata): string {
  return certificates.map(({ fingerprint }) => fingerprint).join(', ');
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
