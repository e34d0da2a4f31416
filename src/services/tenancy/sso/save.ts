import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hold } from '../../../database/hold.ts';
import { Domain } from '../../../database/models/domain.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import {
  requireAuthority,
  requireStill,
  type Standing,
} from '../../foundation/authority/require.ts';
import { findVerified } from '../../foundation/domain-names/owns.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { approvalAfter, type Named } from '../connections/approval.ts';
import { requireKeptByLink } from '../connections/by-link.ts';
import { aboutSso, sealClientSecret, whereSsoPoints } from '../connections/sso.ts';
import { keepOwnersIn } from '../signin-settings/owners.ts';
import { requireSameClient, viewSso } from './connection.ts';
import type { SsoSettingName, saveSsoInput } from './schema.ts';

/** All settings except the provider and the application there. */
const keptWhileOn = [
  'emailDomain',
  'redirectUri',
  'groupsClaim',
  'syncOnLogin',
  'autoRemove',
  'absentGroups',
  'ignoreEmailVerified',
  'requireLocalTwoFactor',
] as const satisfies SsoSettingName[];

/** Saves the section of a document. Call it inside the transaction of the apply. */
export async function applySso(ctx: Context, input: z.output<typeof saveSsoInput>): Promise<void> {
  const standing = await requireAuthority(ctx, 'sso.change', input.org);
  await writeSso(ctx, standing, input, 'applied');
}

/** Saves all settings. Call it inside a transaction. */
export async function writeSso(
  ctx: Context,
  standing: Standing,
  input: z.output<typeof saveSsoInput>,
  named: Named,
) {
  const { organization } = standing;
  await requireNotTaken(organization, input.emailDomain);
  if (input.enabled) await requireTrustedDomain(ctx, organization, input.emailDomain);
  const stored = await findLocked(organization);
  requireKeptByLink(ctx, stored, input, keptWhileOn);
  const { org: _, clientSecret: __, ...settings } = input;
  const id = stored?.id ?? orderedId();
  const approval = await approvalAfter(ctx, standing, stored, {
    before: stored && whereSsoPoints(ctx, stored),
    after: whereSsoPoints(ctx, settings),
    enabled: input.enabled,
    named,
  });
  const clientSecret = secretToStore(ctx, input, id, stored);
  const values = { ...settings, ...approval, clientSecret };
  const made = { id, organizationId: organization.id, createdAt: ctx.now };
  const write = () =>
    stored === null ? SsoConnection.create({ ...made, ...values }) : stored.update(values);
  const losesApproval = stored?.approved === true && !approval.approved;
  const otherwise = 'An owner can make this change after signing in.';
  const writing = losesApproval ? keepOwnersIn(ctx, organization, write, { otherwise }) : write();
  const connection = await refusingDuplicate(writing, domainInUse(input.emailDomain));
  const { issuer, clientId, enabled, approved } = connection;
  const data = { issuer, clientId, enabled, approved };
  await recordEvent(ctx, { kind: 'sso.saved', ...aboutSso(connection), data });
  await requireStill(ctx, 'sso.change', organization);
  return viewSso(ctx, connection);
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
  input: z.output<typeof saveSsoInput>,
  id: string,
  stored: SsoConnection | null,
): string {
  if (input.clientSecret) return sealClientSecret(ctx, id, input.clientSecret);
  if (stored === null)
    throw refuseField('clientSecret', 'is required', 'Give the secret that the provider issued.');
  requireSameClient(stored, input);
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
