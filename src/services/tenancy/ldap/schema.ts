import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { ref, testSteps } from '../../foundation/fields.ts';
import { changing, described } from '../../foundation/settings.ts';
import { secondFactorFields } from '../../people/two-factor/second-factor.ts';
import { canonicalDn } from './dn.ts';
import { faultOfFilter } from './filter.ts';
import { ldapWords } from './words.ts';

const control = /\p{Cc}/u;
const text = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`)
    .refine((given) => !control.test(given), 'must not contain control characters');

const uri = z
  .string()
  .max(300)
  .regex(
    /^ldaps?:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?\/?$/i,
    'must be ldaps://HOST or ldap://HOST, with or without :PORT',
  )
  .refine(
    (given) => Number(/:(\d+)\/?$/.exec(given)?.[1] ?? 1) <= 65535,
    'must have a port of at most 65535',
  )
  .overwrite((given) => given.toLowerCase().replace(/\/$/, ''));
const bindDn = text(1000).refine(
  (given) => /[=@\\]/.test(given),
  'must be a DN such as cn=idctl,dc=example,dc=com, or for Active Directory user@domain',
);
const searchBase = text(1000).refine(
  (given) => canonicalDn(given) !== null,
  'must be a DN such as ou=people,dc=example,dc=com',
);
const searchFilter = text(2000).superRefine((given, ctx) => {
  const message = faultOfFilter(given);
  if (message !== null) ctx.addIssue({ code: 'custom', message });
});
const attribute = z
  .string()
  .max(100)
  .regex(/^[a-z][a-z0-9-]*(;[a-z0-9-]+)*$/i, 'must be the name of an attribute, such as mail')
  .refine(
    (given) => given.toLowerCase() !== 'dn',
    'must be the name of an attribute; dn is not an attribute',
  );
const block = /-----BEGIN [^-]+-----[\s\S]*?-----END [^-]+-----/g;

/**
 * The certificates in a PEM text; null if there are none, or if a PEM block is not a certificate.
 */
function certificatesIn(pem: string): X509Certificate[] | null {
  const blocks = pem.match(block) ?? [];
  try {
    return blocks.length === 0 ? null : blocks.map((one) => new X509Certificate(one));
  } catch {
    return null;
  }
}

const caCertificate = z
  .string()
  .max(100_000)
  .refine((given) => certificatesIn(given) !== null, 'must be one or more certificates in PEM');
/** A password. Directories limit its bytes, and some would end it at a NUL (security L2). */
const secret = z
  .string()
  .refine((given) => Buffer.byteLength(given) <= 1024, 'must have at most 1024 bytes')
  .refine((given) => !given.includes('\0'), 'must not contain NUL');

const settings = {
  uri,
  tls: z.boolean().default(true),
  caCertificate: caCertificate.nullable().default(null),
  bindDn,
  bindPassword: secret.optional(),
  searchBase,
  searchFilter,
  emailAttribute: attribute,
  givenNameAttribute: attribute.default('givenName'),
  familyNameAttribute: attribute.default('sn'),
  groupsAttribute: attribute.nullable().default(null),
};

/** The settings of a connection, except whether it is enabled. */
export type LdapSettingName = keyof typeof settings;

/**
 * All settings (spec §2.5). Absent settings get their defaults. If the password is absent, the
 * stored one stays.
 */
export const saveLdapInput = z.strictObject({
  org: ref,
  ...described(settings, ldapWords),
  enabled: z.boolean().default(false),
});

/** The settings to change. An absent setting keeps its value. */
export const changeLdapInput = z.strictObject({
  org: ref,
  ...changing(described(settings, ldapWords)),
});

const username = z
  .string()
  .refine((given) => given.trim() !== '', 'is required')
  .refine((given) => [...given].length <= 256, 'must have at most 256 characters')
  .refine((given) => !control.test(given), 'must not contain control characters');
const password = secret.refine((given) => given !== '', 'is required');

export const signInByLdapInput = z.strictObject({
  username,
  password,
  org: ref.optional(),
  ...secondFactorFields,
});

/** The settings to test instead of the stored ones, and a user to find or to sign in. */
export const testLdapInput = changeLdapInput.extend({
  enabled: z.boolean().optional(),
  username: username.optional(),
  password: password.optional(),
});
export const testLdapView = z.object({
  ok: z.boolean(),
  message: z.string(),
  /** How many sample entries were returned; absent if an earlier step failed. */
  entries: z.int().optional(),
  steps: testSteps,
});
