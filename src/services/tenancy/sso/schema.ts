import { z } from 'zod';
import { domain, ref } from '../../foundation/fields.ts';
import { affectedMembershipView } from '../projects/view.ts';

const issuer = z
  .url({ protocol: /^https?$/, error: 'must be an https:// URL' })
  .max(500)
  .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII')
  .refine((text) => !/[?#@]/.test(text), 'must not hold a query, a fragment or a user');
const redirectUri = z
  .url({ protocol: /^https?$/, error: 'must be an https:// URL' })
  .max(500)
  .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII')
  .refine((text) => !/[?#@]/.test(text), 'must not hold a query, a fragment or a user');
const visible = z.string().regex(/^[\x20-\x7e]+$/, 'must be printable ASCII');

/** The whole connection; what is absent is its default, but for the stored secret (spec §2.2). */
export const saveSsoInput = z.strictObject({
  org: ref,
  emailDomain: domain,
  issuer,
  clientId: visible.max(500),
  clientSecret: z.string().max(2000).optional(),
  redirectUri: redirectUri.nullable().default(null),
  enabled: z.boolean().default(false),
  syncOnLogin: z.boolean().default(true),
  groupsClaim: z.string().min(1).max(256).default('groups'),
  autoRemove: z.boolean().default(false),
  absentGroups: z.enum(['unknown', 'none']).default('unknown'),
  ignoreEmailVerified: z.boolean().default(false),
  requireLocalTwoFactor: z.boolean().default(false),
});
/** Those settings of the connection that change. */
export const changeSsoInput = z.strictObject({
  org: ref,
  emailDomain: domain.optional(),
  issuer: issuer.optional(),
  clientId: visible.max(500).optional(),
  clientSecret: z.string().max(2000).optional(),
  redirectUri: redirectUri.optional(),
  syncOnLogin: z.boolean().optional(),
  groupsClaim: z.string().min(1).max(256).optional(),
  autoRemove: z.boolean().optional(),
  absentGroups: z.enum(['unknown', 'none']).optional(),
  ignoreEmailVerified: z.boolean().optional(),
  requireLocalTwoFactor: z.boolean().optional(),
});
export const ssoRefInput = z.strictObject({ org: ref });
export const relinkSsoInput = z.strictObject({ org: ref, fromIssuer: issuer });

/** The people whom a change of provider affects: they are linked again when they next sign in. */
export const ssoRelinkedView = z.object({
  fromIssuer: z.string(),
  issuer: z.string(),
  people: z.array(z.string()),
  sessionsEnded: z.int(),
});

export const ssoView = z.object({
  emailDomain: z.string().nullable(),
  issuer: z.string(),
  clientId: z.string(),
  hasClientSecret: z.boolean(),
  redirectUri: z.string(),
  enabled: z.boolean(),
  syncOnLogin: z.boolean(),
  groupsClaim: z.string(),
  autoRemove: z.boolean(),
  absentGroups: z.enum(['unknown', 'none']),
  ignoreEmailVerified: z.boolean(),
  requireLocalTwoFactor: z.boolean(),
});

/** Whom it touches: who signs in through the connection, the owners among them, and what group sync has given. */
export const affectedView = z.object({
  people: z.array(z.string()),
  owners: z.array(z.string()),
  memberships: z.array(affectedMembershipView),
});
export const ssoDisabledView = ssoView.extend(affectedView.shape);
export const ssoRemovedView = ssoDisabledView.extend({ sessionsEnded: z.int() });

/** What is tried instead of what is stored; the settings that no provider is asked about play no part. */
export const testSsoInput = changeSsoInput.extend({
  redirectUri: redirectUri.nullable().optional(),
  enabled: z.boolean().optional(),
});
export const testSsoView = z.object({
  ok: z.boolean(),
  message: z.string(),
  /** In order, those that were run. */
  steps: z.array(
    z.object({
      name: z.string(),
      ok: z.boolean(),
      expected: z.string().optional(),
      seen: z.string().optional(),
      /** The one thing to change. */
      hint: z.string().optional(),
    }),
  ),
});
