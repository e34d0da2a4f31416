import { z } from 'zod';
import { domain, ref } from '../../foundation/fields.ts';

const url = z
  .url({ protocol: /^https?$/, error: 'must be an https:// URL' })
  .max(500)
  .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII')
  .refine((text) => !/[?#@]/.test(text), 'must not contain a query, a fragment or a user');
const visible = z.string().regex(/^[\x20-\x7e]+$/, 'must be printable ASCII');

/** All settings (spec §2.2). Absent settings get defaults; an absent secret stays as stored. */
export const saveSsoInput = z.strictObject({
  org: ref,
  emailDomain: domain,
  issuer: url,
  clientId: visible.max(500),
  clientSecret: z.string().max(2000).optional(),
  redirectUri: url.nullable().default(null),
  enabled: z.boolean().default(false),
  syncOnLogin: z.boolean().default(true),
  groupsClaim: z.string().min(1).max(256).default('groups'),
  autoRemove: z.boolean().default(false),
  absentGroups: z.enum(['unknown', 'none']).default('unknown'),
  ignoreEmailVerified: z.boolean().default(false),
  requireLocalTwoFactor: z.boolean().default(false),
});
/** The settings to change. An absent setting keeps its value. */
export const changeSsoInput = z.strictObject({
  org: ref,
  emailDomain: domain.optional(),
  issuer: url.optional(),
  clientId: visible.max(500).optional(),
  clientSecret: z.string().max(2000).optional(),
  redirectUri: url.optional(),
  syncOnLogin: z.boolean().optional(),
  groupsClaim: z.string().min(1).max(256).optional(),
  autoRemove: z.boolean().optional(),
  absentGroups: z.enum(['unknown', 'none']).optional(),
  ignoreEmailVerified: z.boolean().optional(),
  requireLocalTwoFactor: z.boolean().optional(),
});
