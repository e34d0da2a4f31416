import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Domain } from '../../../database/models/domain.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { domainInUse, requireTrustedDomain } from './enabling.ts';
import type { saveSsoInput } from './schema.ts';
import { requireSameClient, sealClientSecret } from './secret.ts';
import { viewSso } from './view.ts';

type Input = z.output<typeof saveSsoInput>;

/**
 * Saves the organization's connection whole (spec §2.2). Saving for an unverified domain is allowed,
 * enabling is not. A blank secret keeps the stored one, but only for the same issuer and client (security S10).
 */
export async function saveSso(ctx: Context, input: Input) {
  const { organization } = await requireAuthority(ctx, 'sso.change', input.org);
  return transaction(async () => {
    await requireNotTaken(organization, input.emailDomain);
    if (input.enabled) await requireTrustedDomain(ctx, organization, input.emailDomain);
    const stored = await SsoConnection.findOne({ where: { organizationId: organization.id }, lock: true });
    const { org: _, clientSecret: __, ...settings } = input;
    const id = stored?.id ?? orderedId();
    const values = { ...settings, clientSecret: secretToStore(ctx, input, id, stored) };
    const writing =
      stored === null
        ? SsoConnection.create({ id, organizationId: organization.id, createdAt: ctx.now, ...values })
        : stored.update(values);
    const connection = await refusingDuplicate(writing, domainInUse(input.emailDomain));
    await recordEvent(ctx, {
      kind: 'sso.saved',
      organizationId: organization.id,
      subject: { type: 'sso', id, name: input.emailDomain },
      data: { issuer: input.issuer, clientId: input.clientId, enabled: input.enabled },
    });
    return viewSso(ctx, connection);
  });
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

function secretToStore(ctx: Context, input: Input, id: string, stored: SsoConnection | null): string {
  if (input.clientSecret) return sealClientSecret(ctx, id, input.clientSecret);
  if (stored === null)
    throw refuseField('clientSecret', 'is required', 'Give the secret that the provider issued.');
  requireSameClient(stored, input);
  return stored.clientSecret;
}
