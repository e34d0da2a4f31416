import { z } from 'zod';
import { type SsoKind, ssoKinds } from '../../../database/models/sso-connection.ts';
import { isProviderId } from '../../../text/unseen.ts';
import { domain, notBlank, ref } from '../../foundation/fields.ts';
import { changing, described } from '../../foundation/settings.ts';
import { ssoWords } from './words.ts';

const url = z
  .url({ protocol: /^https?$/, error: 'must be an https:// URL' })
  .max(500)
  .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII')
  .refine((text) => !/[?#@]/.test(text), 'must not contain a query, a fragment or a user');
const visible = z.string().regex(/^[\x20-\x7e]+$/, 'must be printable ASCII');

/** The issuer or entity ID of a provider. */
export const providerId = z.string().max(1024).refine(isProviderId, 'must be printable ASCII');

/** A URL of metadata, which may have a query: Entra ID names the application in it. */
const metadataUrl = z
  .url({ protocol: /^https?$/, error: 'must be an https:// URL' })
  .max(1000)
  .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII')
  .refine((text) => !/[#@]/.test(text), 'must not contain a fragment or a user');

/** The maximum length of metadata (security S11). */
export const maxMetadata = 512 * 1024;

const attribute = z
  .string()
  .max(256)
  .refine(...notBlank)
  .nullable()
  .default(null);

const emailDomain = { emailDomain: domain };
const syncing = {
  syncOnLogin: z.boolean().default(true),
  autoRemove: z.boolean().default(false),
  absentGroups: z.enum(['unknown', 'none']).default('unknown'),
};
const requireLocalTwoFactor = { requireLocalTwoFactor: z.boolean().default(false) };

const settings = {
  oidc: {
    ...emailDomain,
    issuer: url,
    clientId: visible.max(500).refine(...notBlank),
    clientSecret: z
      .string()
      .max(2000)
      .refine(...notBlank)
      .optional(),
    redirectUri: url.nullable().default(null),
    groupsClaim: z.string().min(1).max(256).default('groups'),
    ...syncing,
    ignoreEmailVerified: z.boolean().default(false),
    ...requireLocalTwoFactor,
  },
  saml: {
    ...emailDomain,
    metadataUrl: metadataUrl.nullable().default(null),
    metadataXml: z.string().min(1).max(maxMetadata).optional(),
    emailAttribute: attribute,
    groupsAttribute: attribute,
    subjectAttribute: attribute,
    encryptAssertions: z.boolean().default(false),
    ...syncing,
    ...requireLocalTwoFactor,
  },
};

const kind = { kind: z.enum(ssoKinds).default('oidc') };
const all = described({ ...kind, ...settings.saml, ...settings.oidc }, ssoWords);

/** The settings of a connection of any kind, except whether it is enabled. */
export type SsoSettingName = keyof typeof all;

const enabled = z.boolean().default(false);

/** All settings of one kind of connection, with their defaults (spec §2.2). */
export const settingsOfKind = {
  oidc: z.strictObject({
    kind: z.literal('oidc').default('oidc').describe(ssoWords.kind.about),
    ...described(settings.oidc, ssoWords),
    enabled,
  }),
  saml: z.strictObject({
    kind: z.literal('saml').describe(ssoWords.kind.about),
    ...described(settings.saml, ssoWords),
    enabled,
  }),
};

/** All settings of a connection, as its kind has them. */
export type SsoSettings = z.output<(typeof settingsOfKind)[SsoKind]>;

/**
 * All settings (spec §2.2). Each kind has its own: `settingsOfKind` checks them, and gives absent
 * ones their defaults. If the secret is absent, the stored one stays.
 */
export const saveSsoInput = z.strictObject({
  org: ref,
  ...changing(all),
  kind: all.kind,
  emailDomain: all.emailDomain,
  enabled,
});

/** The settings to change. An absent setting keeps its value. */
export const changeSsoInput = z.strictObject({
  org: ref,
  ...changing(all),
  redirectUri: url.optional().describe(ssoWords.redirectUri.about),
});
