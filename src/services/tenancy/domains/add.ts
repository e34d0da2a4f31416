import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { randomToken } from '../../../crypto/secret.ts';
import { Domain } from '../../../database/models/domain.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import { shellWord } from '../../../shell-word.ts';
import { requireAuthority, requireOperator } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import type { addDomainInput } from './schema.ts';
import { whyShared } from './shared.ts';
import { viewDomain } from './view.ts';

/**
 * Claims a domain for the organization; the claim reserves nothing until it is verified (spec §3.1,
 * security I2). Public suffixes and mail providers are refused but for the operator's override (security D2).
 */
export async function addDomain(ctx: Context, input: z.output<typeof addDomainInput>, overridden = false) {
  const { organization } = await requireAuthority(ctx, 'domains.change', input.org);
  if (overridden) requireOperator(ctx);
  else requireOwn(input.domain);
  const row = {
    id: orderedId(),
    organizationId: organization.id,
    name: input.domain,
    state: 'Pending' as const,
    token: randomToken(128),
    createdAt: ctx.now,
  };
  return transaction(async () => {
    const domain = await refusingDuplicate(Domain.create(row), {
      message: `${organization.slug} has ${input.domain} already.`,
      hint: `See its record with: idctl domain list --org ${shellWord(organization.slug)}`,
    });
    await recordEvent(ctx, {
      kind: 'domain.added',
      organizationId: organization.id,
      subject: { type: 'domain', id: domain.id, name: domain.name },
      ...(overridden ? { data: { overridden } } : {}),
    });
    return viewDomain(domain);
  });
}

function requireOwn(domain: string): void {
  const why = whyShared(domain);
  if (why === null) return;
  throw new Refusal('domain_shared', `${domain} ${why}.`, {
    hint: 'Add a domain of your own; the operator can insist with: idctl domain add --override',
  });
}
