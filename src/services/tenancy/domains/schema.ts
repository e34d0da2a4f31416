import { z } from 'zod';
import { domain, instant, ref } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';
import { affectedView } from '../sso/schema.ts';

export const addDomainInput = z.strictObject({ org: ref, domain });
export const verifyDomainInput = z.strictObject({ org: ref, domain });
export const removeDomainInput = z.strictObject({ org: ref, domain });
export const listDomainsInput = z.strictObject({ org: ref, ...pageInput });

export const domainView = z.object({
  domain: z.string(),
  state: z.enum(['Pending', 'Verified']),
  txtRecord: z.object({ name: z.literal('@'), type: z.literal('TXT'), value: z.string() }),
  verifiedAt: instant.nullable(),
  verifiedBy: z.enum(['dns', 'operator']).nullable(),
});
export const domainPage = pageOf(domainView);

/** What a removal took along: the connection it switched off, the people it touches, and the sessions that it ended. */
export const domainRemovedView = affectedView.extend({
  domain: z.string(),
  ssoDisabled: z.boolean(),
  sessionsEnded: z.int(),
});
