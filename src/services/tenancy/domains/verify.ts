import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Domain } from '../../../database/models/domain.ts';
import { Refusal } from '../../../errors.ts';
import type { TxtAnswer } from '../../../outbound/outbound.ts';
import { requireAuthority, requireOperator } from '../../foundation/authority/require.ts';
import { requireDomain } from './find.ts';
import { markVerified } from './mark-verified.ts';
import { isProven } from './proof.ts';
import type { verifyDomainInput } from './schema.ts';
import { txtValue, viewDomain } from './view.ts';

/**
 * Looks the proof up in the DNS (spec §3.1). Refuses `domain_not_verified` with what was found while
 * the record is not there, and `domain_taken` when another organization was first.
 */
export async function verifyDomain(ctx: Context, input: z.output<typeof verifyDomainInput>) {
  const { organization } = await requireAuthority(ctx, 'domains.change', input.org);
  const domain = await requireDomain(organization, input.domain);
  if (domain.state === 'Verified') return viewDomain(domain);
  const answer = await ctx.outbound.lookupTxt(domain.name);
  if (!isProven(answer, txtValue(domain))) throw notVerified(domain, answer);
  return viewDomain(await markVerified(ctx, organization, domain, 'dns'));
}

/** Takes the operator's own word for a domain, recorded as such (security I2). */
export async function assertDomain(ctx: Context, input: z.output<typeof verifyDomainInput>) {
  requireOperator(ctx);
  const { organization } = await requireAuthority(ctx, 'domains.change', input.org);
  const domain = await requireDomain(organization, input.domain);
  if (domain.state === 'Verified') return viewDomain(domain);
  return viewDomain(await markVerified(ctx, organization, domain, 'operator'));
}

function notVerified(domain: Domain, answer: TxtAnswer): Refusal {
  const found = answer.values.filter((value) => value.startsWith('svc-verify='));
  return new Refusal('domain_not_verified', `${domain.name} ${finding(answer, found)}.`, {
    hint: `Add the TXT record ${txtValue(domain)} at ${domain.name} (name @), allow DNS propagation, and verify again.`,
    extra: { found: { rcode: answer.rcode, records: answer.values.length, proofs: found } },
  });
}

function finding(answer: TxtAnswer, found: string[]): string {
  if (answer.truncated) return 'answered with a truncated list of TXT records';
  if (answer.rcode === 'NXDOMAIN') return 'does not exist in the DNS (NXDOMAIN)';
  if (answer.rcode !== 'NOERROR') return `could not be looked up (${answer.rcode})`;
  if (found.length > 0) return `has ${found.join(', ')} in the DNS, not the value expected`;
  return `has no svc-verify record among its ${answer.values.length} TXT records`;
}
