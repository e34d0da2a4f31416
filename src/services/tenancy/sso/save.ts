import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hold } from '../../../database/hold.ts';
import { Domain } from '../../../database/models/domain.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SsoConnection, type StoredMetadata } from '../../../database/models/sso-connection.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import {
  requireAuthority,
  requireStill,
  type Standing,
} from '../../foundation/authority/require.ts';
import { findVerified } from '../../foundation/domain-names/owns.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import {
  approvalAfter,
  type Named,
  type Pointing,
  pointingChanges,
} from '../connections/approval.ts';
import { requireKeptByLink } from '../connections/by-link.ts';
import { aboutSso, metadataNames, sealClientSecret, whereSsoPoints } from '../connections/sso.ts';
import { keepOwnersIn } from '../signin-settings/owners.ts';
import { requireSameClient, viewSso } from './connection.ts';
import type { SsoSettings } from './schema.ts';

/**
 * All settings except the provider and the application there. A SAML provider stays too, because
 * its metadata proves nothing.
 */
const keptWhileOn = [
  'kind',
  'emailDomain',
  'redirectUri',
  'groupsClaim',
  'groupsAttribute',
  'syncOnLogin',
  'autoRemove',
  'absentGroups',
  'ignoreEmailVerified',
  'requireLocalTwoFactor',
  'emailAttribute',
  'subjectAttribute',
] as const;

/** What a save stores besides the settings, which was read before its transaction. */
export interface Prepared {
  /** The metadata of a SAML provider; null to keep the stored one. */
  metadata: StoredMetadata | null;
}

/** Saves the section of a document. Call it inside the transaction of the apply. */
export async function applySso(
  ctx: Context,
  org: string,
  settings: SsoSettings,
  prepared: Prepared,
): Promise<void> {
  const standing = await requireAuthority(ctx, 'sso.change', org);
  await writeSso(ctx, standing, settings, { named: 'applied', ...prepared });
}

/** Saves all settings. Call it inside a transaction. */
export async function writeSso(
  ctx: Context,
  standing: Standing,
  settings: SsoSettings,
  { named, metadata }: { named: Named } & Prepared,
) {
  const { organization } = standing;
  const { emailDomain } = settings;
  await requireNotTaken(organization, emailDomain);
  if (settings.enabled) await requireTrustedDomain(ctx, organization, emailDomain);
  const stored = await findLocked(organization);
  const id = stored?.id ?? orderedId();
  const row = rowOf(ctx, { id, stored, metadata }, settings);
  const before = stored && whereSsoPoints(ctx, stored);
  const after = whereSsoPoints(ctx, row);
  requireKeptByLink(ctx, stored, row, keptWhileOn);
  const on = stored && { enabled: stored.enabled, metadata: metadataIn(before) };
  requireKeptByLink(ctx, on, { metadata: metadataIn(after) }, ['metadata']);
  const saving = { before, after, enabled: row.enabled, named };
  const approval = await approvalAfter(ctx, standing, stored, saving);
  const hasNewProvider = pointingChanges(before, after).some(({ field }) => isOfProvider(field));
  const keysSince = hasNewProvider ? ctx.now : (stored?.keysSince ?? null);
  const values = { ...row, ...approval, keysSince: approval.approved ? null : keysSince };
  const made = { id, organizationId: organization.id, createdAt: ctx.now };
  const write = () =>
    stored === null ? SsoConnection.create({ ...made, ...values }) : stored.update(values);
  const losesApproval = stored?.approved === true && !approval.approved;
  const otherwise = 'An owner can make this change after signing in.';
  const writing = losesApproval ? keepOwnersIn(ctx, organization, write, { otherwise }) : write();
  const connection = await refusingDuplicate(writing, domainInUse(emailDomain));
  const { kind, issuer, clientId, enabled, approved } = connection;
  const data = { kind, issuer, clientId, enabled, approved };
  await recordEvent(ctx, { kind: 'sso.saved', ...aboutSso(connection), data });
  await requireStill(ctx, 'sso.change', organization);
  return viewSso(ctx, connection);
}

interface Storing extends Prepared {
  id: string;
  stored: SsoConnection | null;
}

/** The columns for the settings. Those of the other kind are empty. */
function rowOf(ctx: Context, storing: Storing, settings: SsoSettings) {
  if (settings.kind === 'oidc') {
    const clientSecret = secretToStore(ctx, storing, settings);
    return { ...emptySaml, ...settings, clientSecret };
  }
  const { metadataXml: _, ...own } = settings;
  const metadata = metadataToStore(storing, settings);
  const clientSecret = sealClientSecret(ctx, storing.id, '');
  const isRead = storing.metadata !== null;
  const metadataReadAt = isRead ? ctx.now : (storing.stored?.metadataReadAt ?? null);
  return {
    ...emptyOidc,
    ...own,
    issuer: metadata.entityId,
    clientSecret,
    metadata,
    metadataReadAt,
  };
}

/** The pointing values of the metadata, as one text. */
function metadataIn(points: Pointing | null): string {
  return JSON.stringify(metadataNames.map((name) => points?.[name]));
}

/** Whether a pointing value of SAML decides which subjects its answers can name. */
function isOfProvider(field: string): boolean {
  return ['kind', 'subjectAttribute', ...metadataNames].includes(field);
}

const emptySaml = {
  metadataUrl: null,
  metadata: null,
  metadataReadAt: null,
  metadataTriedAt: null,
  emailAttribute: null,
  groupsAttribute: null,
  subjectAttribute: null,
  encryptAssertions: false,
};

const emptyOidc = {
  clientId: '',
  redirectUri: null,
  groupsClaim: 'groups',
  ignoreEmailVerified: false,
};

/** The metadata that was read for this save, or else the stored one. */
function metadataToStore(
  { stored, metadata }: Storing,
  { metadataUrl }: { metadataUrl: string | null },
): StoredMetadata {
  if (metadata !== null) return metadata;
  if (stored?.metadata && stored.metadataUrl === metadataUrl) return stored.metadata;
  throw refuseField('metadataUrl', 'is required, or metadataXml');
}

/** The stored connection, locked until the transaction ends; null if there is none. */
export function findLocked({ id: organizationId }: Organization): Promise<SsoConnection | null> {
  return hold.sso({ organizationId }, 'whole');
}

async function requireNotTaken(organization: Organization, emailDomain: string): Promise<void> {
  const holder = await Domain.findOne({
    where: { name: emailDomain, state: 'Verified', organizationId: { [Op.ne]: organization.id } },
  });
  if (holder === null) return;
  throw new Refusal('domain_taken', `${emailDomain} is verified by another organization.`, {
    hint: 'Use a domain of your own; a verified domain belongs to exactly one organization.',
  });
}

function secretToStore(
  ctx: Context,
  { id, stored }: Storing,
  given: SsoSettings & { kind: 'oidc' },
): string {
  if (given.clientSecret) return sealClientSecret(ctx, id, given.clientSecret);
  if (stored === null || stored.kind !== 'oidc')
    throw refuseField('clientSecret', 'is required', 'Give the secret that the provider issued.');
  requireSameClient(stored, given);
  return stored.clientSecret;
}

/** Refuses a connection for a domain that the organization has not verified (security I2). */
export async function requireTrustedDomain(
  ctx: Context,
  organization: Organization,
  emailDomain: string | null,
): Promise<void> {
  if (emailDomain === null) {
    throw new Refusal(
      'domain_unverified',
      'Another organization has verified the domain of this connection.',
      { hint: 'Save the connection with a domain of your own.' },
    );
  }
  if (ctx.config.trust.domains === 'off') return;
  if ((await findVerified(organization.id, emailDomain)) !== null) return;
  throw new Refusal('domain_unverified', `${organization.slug} has not verified ${emailDomain}.`, {
    hint: [
      {
        say: 'Verify it first',
        operation: 'domain.add',
        with: { domain: emailDomain, org: organization.slug },
      },
      {
        say: 'then',
        operation: 'domain.verify',
        with: { domain: emailDomain, org: organization.slug },
      },
    ],
  });
}

/** The refusal of a second enabled connection for one e-mail domain (spec §2.2). */
export const domainInUse = (emailDomain: string | null) => ({
  code: 'domain_taken' as const,
  message: `Another organization has an enabled connection for ${emailDomain}.`,
  hint: 'Use another domain. An e-mail domain can have only one enabled connection.',
});

/** The approval after the connection is switched on or off. */
export function switchApproval(
  ctx: Context,
  standing: Standing,
  connection: SsoConnection,
  enabled: boolean,
) {
  const at = whereSsoPoints(ctx, connection);
  return approvalAfter(ctx, standing, connection, { before: at, after: at, enabled, named: [] });
}
