import { z } from 'zod';
import { domain, notBlank, ref } from '../../foundation/fields.ts';
import { changing, described } from '../../foundation/settings.ts';
import { ssoWords } from './words.ts';

const url = z
  .url({ protocol: /^https?$/, error: 'must be an https:// URL' })
  .max(500)
  .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII')
  .refine((text) => !/[?#@]/.test(text), 'must not contain a query, a fragment or a user');
const visible = z.string().regex(/^[\x20-\x7e]+$/, 'must be printable ASCII');

const settings = {
  emailDomain: domain,
  issuer: url,
  clientId: visible.max(500).refine(...notBlank),
  clientSecret: z
    .string()
    .max(2000)
    .refine(...notBlank)
    .optional(),
  redirectUri: url.nullable().default(null),
  groupsClaim: z.string().min(1).max(256).default('groups'),
  syncOnLogin: z.boolean().default(true),
  autoRemove: z.boolean().default(false),
  absentGroups: z.enum(['unknown', 'none']).default('unknown'),
  ignoreEmailVerified: z.boolean().default(false),
  requireLocalTwoFactor: z.boolean().default(false),
};

/** The settings of a connection, except whether it is enabled. */
export type SsoSettingName = keyof typeof settings;

/**
 * All settings (spec §2.2). Absent settings get their defaults. If the secret is absent, the stored
 * one stays.
 */
export const saveSsoInput = z.strictObject({
  org: ref,
  ...described(settings, ssoWords),
  enabled: z.boolean().default(false),
});

/** The settings to change. An absent setting keeps its value. */
export const changeSsoInput = z.strictObject({
  org: ref,
  ...changing(described(settings, ssoWords)),
  redirectUri: url.optional().describe(ssoWords.redirectUri.about),
});
