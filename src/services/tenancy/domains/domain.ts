import { Op } from 'sequelize';
import { getPublicSuffix } from 'tldts';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { Domain } from '../../../database/models/domain.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import type { TxtAnswer } from '../../../outbound/outbound.ts';
import { requireStill } from '../../foundation/authority/require.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { instant } from '../../foundation/fields.ts';
import { dropLostOrigins, holdDomains } from '../clients/origins.ts';
import { withdrawApproval } from '../connections/approval.ts';
import { aboutSso, whereSsoPoints } from '../connections/sso.ts';
import { keepOwnersIn } from '../signin-settings/owners.ts';
import { affectedView } from '../sso/affected.ts';

export const domainView = z.object({
  domain: z.string(),
  state: z.enum(['Pending', 'Verified']),
  txtRecord: z.object({ name: z.literal('@'), type: z.literal('TXT'), value: z.string() }),
  verifiedAt: instant.nullable(),
  verifiedBy: z.enum(['dns', 'operator']).nullable(),
});

/** Whether the connection was disabled, the affected people, and the number of ended sessions. */
export const domainRemovedView = z.object({
  domain: z.string(),
  ssoDisabled: z.boolean(),
  ...affectedView.shape,
  sessionsEnded: z.int(),
});

/** The TXT value that proves the domain (spec §2.1). */
export function txtValue(domain: Pick<Domain, 'token'>): string {
  return `svc-verify=${domain.token}`;
}

/** A domain with the record that proves it. */
export function viewDomain(domain: Domain) {
  return {
    domain: domain.name,
    state: domain.state,
    txtRecord: { name: '@' as const, type: 'TXT' as const, value: txtValue(domain) },
    verifiedAt: domain.verifiedAt?.toISOString() ?? null,
    verifiedBy: domain.verifiedBy,
  };
}

/** Whether the answer is complete, without an error, and has the expected value (security D3). */
export function isProven(answer: TxtAnswer, expected: string): boolean {
  return answer.rcode === 'NOERROR' && !answer.truncated && answer.values.includes(expected);
}

let consumerMail: Promise<ReadonlySet<string>> | undefined;

/** Why only the operator may add this domain: many people share it. Else null (security D2). */
export async function whyShared(domain: string): Promise<string | null> {
  if (getPublicSuffix(domain, { allowPrivateDomains: true }) === domain) {
    return 'is a public suffix, under which anyone can register';
  }
  consumerMail ??= readConsumerMail();
  return (await consumerMail).has(domain)
    ? 'is a mail provider where anyone can get an address'
    : null;
}

/** Loads the list when first needed: it takes a megabyte, and domains are rarely added. */
async function readConsumerMail(): Promise<ReadonlySet<string>> {
  const { default: domains } = await import('free-email-domains');
  return new Set(domains);
}

/**
 * Marks a claim Verified if it is still the claim that was proven. From then on, the sign-in
 * settings of the organization apply to the domain, so the owners must keep a way to sign in
 * (security O3).
 */
export async function markVerified(
  ctx: Context,
  organization: Organization,
  domain: Domain,
  by: 'dns' | 'operator',
): Promise<Domain> {
  await transaction(async () => {
    const own = { organizationId: organization.id, name: [domain.name] };
    await holdDomains(own, 'alone', own.name);
    await takeFromOthers(ctx, organization.id, domain.name);
    // The sign-in settings must not change meanwhile.
    await hold.organization({ id: organization.id }, 'alone');
    await keepOwnersIn(ctx, organization, () => writeVerified(ctx, domain, by), {
      otherwise: 'First allow another way in the sign-in settings.',
    });
    await recordEvent(ctx, {
      kind: 'domain.verified',
      ...eventAbout('domain', domain, organization.id),
      data: { by },
    });
    await dropLostOrigins(ctx, domain.name);
    await requireStill(ctx, 'domains.change', organization);
  });
  return domain.reload();
}

/**
 * Compares and sets token and state (security D4). The unique index accepts only one of two
 * organizations.
 */
async function writeVerified(ctx: Context, domain: Domain, by: 'dns' | 'operator') {
  const claim = { id: domain.id, token: domain.token, state: 'Pending' as const };
  const proof = { state: 'Verified' as const, verifiedAt: ctx.now, verifiedBy: by };
  const [changed] = await refusingDuplicate(Domain.update(proof, { where: claim }), {
    code: 'domain_taken',
    message: `${domain.name} is verified by another organization.`,
    hint: 'That organization must remove it first: a domain belongs to only one organization.',
  });
  if (changed === 0) {
    throw new Refusal('conflict', `${domain.name} was changed or removed in the meantime.`, {
      hint: 'Check the domain, then verify again.',
    });
  }
}

/** Removes the domain from other organizations' connections, and disables them (security I2). */
async function takeFromOthers(
  ctx: Context,
  organizationId: string,
  emailDomain: string,
): Promise<void> {
  const others = await hold.ssos(
    { emailDomain, organizationId: { [Op.ne]: organizationId } },
    'alone',
  );
  for (const connection of others) {
    const withdrawn = withdrawApproval(connection, whereSsoPoints(ctx, connection));
    const about = aboutSso(connection);
    await connection.update({ emailDomain: null, enabled: false, ...withdrawn });
    await recordEvent(ctx, {
      kind: 'sso.domain.lost',
      ...about,
      data: { emailDomain },
    });
  }
}
