import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import type { Organization } from '../../../database/models/organization.ts';
import {
  SsoConnection,
  type SsoKind,
  type StoredMetadata,
} from '../../../database/models/sso-connection.ts';
import { Refusal } from '../../../errors.ts';
import { instant, viewOf } from '../../foundation/fields.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { approvalView, digestOf, isApproved, viewApproval } from '../connections/approval.ts';
import { isOwnerAnywhere } from '../connections/owners.ts';
import {
  fingerprintsOf,
  redirectUriOf,
  ssoSettings,
  ssoSettingsOfKind,
  whereSsoPoints,
} from '../connections/sso.ts';
import { keepTrusted } from '../connections/usable.ts';
import { belongsElsewhere } from '../identities/identities.sql.ts';
import { affectedView } from './affected.ts';

/** What the metadata of a SAML provider says. */
const metadataView = z.object({
  entityId: z.string(),
  ssoUrl: z.string(),
  certificates: z.array(z.object({ fingerprint: z.string(), notAfter: instant })),
  metadataReadAt: instant,
});

const { kind, emailDomain, issuer, clientId, ...others } = ssoSettings.shape;
export const ssoView = z.object({
  ...{ kind, emailDomain, issuer, clientId },
  ...metadataView.partial().shape,
  hasClientSecret: z.boolean().optional(),
  ...others,
  ...approvalView.shape,
});

export const ssoDisabledView = ssoView.extend(affectedView.shape);
export const ssoRemovedView = ssoDisabledView.extend({ sessionsEnded: z.int() });

/** The people whose keys of the old provider were deleted; their next sign-in links them again. */
export const ssoRelinkedView = z.object({
  fromIssuer: z.string(),
  issuer: z.string(),
  people: z.array(z.string()),
  sessionsEnded: z.int(),
});

/** A connection without its secret. */
export function viewSso(ctx: Context, connection: SsoConnection) {
  return {
    ...kinds[connection.kind](ctx, connection),
    ...viewApproval(connection, whereSsoPoints(ctx, connection)),
  };
}

type Settings = Omit<z.input<typeof ssoView>, keyof typeof approvalView.shape>;

const kinds: Record<SsoKind, (ctx: Context, connection: SsoConnection) => Settings> = {
  oidc: (ctx, connection) => ({
    ...viewOf(ssoSettingsOfKind.oidc, connection),
    hasClientSecret: true,
    redirectUri: redirectUriOf(ctx, connection),
  }),
  saml: (_ctx, connection) => {
    const { ssoUrl, certificates } = requireMetadata(connection);
    const { issuer: entityId, metadataReadAt } = connection;
    return {
      ...viewOf(ssoSettingsOfKind.saml, connection),
      ...{ entityId, ssoUrl },
      certificates: certificates.map(({ fingerprint, notAfter }) => ({ fingerprint, notAfter })),
      ...(metadataReadAt && { metadataReadAt: metadataReadAt.toISOString() }),
    };
  },
};

/** The metadata of a SAML connection, which each of them has. */
export function requireMetadata({ metadata }: Pick<SsoConnection, 'metadata'>): StoredMetadata {
  if (metadata === null) throw new Error('a SAML connection has no metadata');
  return metadata;
}

/** The provider of a connection: its issuer or entity ID. */
export const providerOf = ({
  issuer,
  entityId,
}: Pick<z.output<typeof ssoView>, 'issuer' | 'entityId'>): string => issuer ?? entityId ?? '';

/** The organization's connection; refuses with `not_found`. */
export async function requireSsoConnection(organization: Organization): Promise<SsoConnection> {
  const where = { organizationId: organization.id };
  return (await SsoConnection.findOne({ where })) ?? refuseMissing(organization);
}

/**
 * Like `requireSsoConnection`, and locks the connection against other changes. Sign-ins through it
 * continue.
 */
export async function holdSsoConnection(organization: Organization): Promise<SsoConnection> {
  const where = { organizationId: organization.id };
  return (await hold.sso(where, 'alone')) ?? refuseMissing(organization);
}

function refuseMissing({ slug }: Organization): never {
  throw new Refusal('not_found', `${slug} has no single sign-on connection.`, {
    hint: { say: 'Create one', operation: 'sso.create', with: { org: slug } },
  });
}

/**
 * Refuses with `secret_required` if the stored secret belongs to another issuer or client (security
 * S10).
 */
export function requireSameClient(
  stored: { issuer?: string; clientId?: string },
  { issuer, clientId }: { issuer: string; clientId: string },
): void {
  if (stored.issuer === issuer && stored.clientId === clientId) return;
  throw new Refusal(
    'secret_required',
    'A changed issuer or client id needs the client secret again.',
    {
      hint: 'Enter the secret again. idctl sends the stored one only to the provider it was entered for.',
    },
  );
}

/** The connection of a sign-in, as it was when the sign-in began. */
interface BegunConnection {
  /** The connection's id. */
  connection: string;
  issuer: string;
  clientId: string;
  redirectUri: string;
  /** If its answer was verified earlier: what verified it, as `whatVerifies` says. */
  verifiedBy?: string | undefined;
}

/**
 * A digest of what verifies an answer through this connection: where the connection points, its
 * certificates, and whether an owner has approved it (security I8).
 */
export function whatVerifies(ctx: Pick<Context, 'config'>, connection: SsoConnection): string {
  const { metadata } = connection;
  const certificates = metadata && fingerprintsOf(metadata);
  const approved = isApproved(connection);
  return digestOf({ ...whereSsoPoints(ctx, connection), certificates, approved });
}

/**
 * The connection as it is now, if it still matches the state; else refuses with `signin_failed`
 * (security S6). Inside a transaction, the connection cannot be removed until the transaction ends,
 * so that no session outlives the connection.
 */
export async function requireSameConnection(ctx: Context, state: BegunConnection) {
  const seen = requireSame(ctx, state, await SsoConnection.findByPk(state.connection));
  if (!(await keepTrusted(ctx, seen))) throw signInFailed('domain_not_verified');
  const held = requireSame(ctx, state, await hold.sso({ id: state.connection }, 'kept'));
  if (held.emailDomain !== seen.emailDomain) throw signInFailed('connection_changed');
  return held;
}

function requireSame(ctx: Context, state: BegunConnection, connection: SsoConnection | null) {
  const same =
    connection?.enabled === true &&
    connection.issuer === state.issuer &&
    connection.clientId === state.clientId &&
    redirectUriOf(ctx, connection) === state.redirectUri &&
    [undefined, whatVerifies(ctx, connection)].includes(state.verifiedBy);
  if (connection === null || !same) throw signInFailed('connection_changed');
  return connection;
}

/**
 * Which keys count at a sign-in through the connection (security I1). A SAML provider chooses its
 * entity ID, so a key is bound to the protocol and to the source of its subject too, and while the
 * provider is unapproved, only keys that were linked since count.
 */
export function keysOf({ kind, subjectAttribute, approved, keysSince }: SsoConnection) {
  if (kind === 'oidc') return { server: null, keysSince: null };
  const server = subjectAttribute === null ? 'saml' : `saml ${subjectAttribute}`;
  return { server, keysSince: approved ? null : keysSince };
}

/** Whether the sign-in asks for the account's own second factor (security P12, I8). */
export async function asksOwnSecondFactor(
  ctx: Pick<Context, 'config'>,
  connection: SsoConnection,
  accountId: string,
): Promise<boolean> {
  if (connection.requireLocalTwoFactor || !isApproved(connection)) return true;
  if (await isOwnerAnywhere(accountId)) return true;
  return belongsElsewhere(ctx, accountId, connection.organizationId);
}
