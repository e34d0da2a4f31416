import { z } from 'zod';
import type { Domain } from '../../../database/models/domain.ts';
import { instant } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';
import { affectedView } from '../sso/affected.ts';

export const domainView = z.object({
  domain: z.string(),
  state: z.enum(['Pending', 'Verified']),
  txtRecord: z.object({ name: z.literal('@'), type: z.literal('TXT'), value: z.string() }),
  verifiedAt: instant.nullable(),
  verifiedBy: z.enum(['dns', 'operator']).nullable(),
});
export const domainPage = pageOf(domainView);

/**
 * The result of a removal: the connection it disabled, the affected people, and the sessions that
 * it ended.
 */
export const domainRemovedView = affectedView.extend({
  domain: z.string(),
  ssoDisabled: z.boolean(),
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
