import { z } from 'zod';
import { domain, instant, ref } from '../../foundation/fields.ts';

const choices = {
  password: z.boolean().optional(),
  magicCode: z.boolean().optional(),
  google: z.boolean().optional(),
  github: z.boolean().optional(),
  allowSelfSignup: z.boolean().optional(),
  restrictOauthToVerifiedDomains: z.boolean().optional(),
};

/** The settings whole; what is absent is left to the instance. */
export const saveSignInSettingsInput = z.strictObject({ org: ref, ...choices });
/** Those settings that change. */
export const changeSignInSettingsInput = z.strictObject({ org: ref, ...choices });
export const signInSettingsRefInput = z.strictObject({ org: ref });

export const signInSettingsView = z.object({
  password: z.boolean(),
  magicCode: z.boolean(),
  google: z.boolean(),
  github: z.boolean(),
  allowSelfSignup: z.boolean(),
  restrictOauthToVerifiedDomains: z.boolean(),
});

/** A way to sign in that people are offered. */
export const offeredMethod = z.enum(['password', 'magicCode', 'sso', 'ldap', 'google', 'github']);

/** An address or a bare domain: only the domain counts. */
export const listMethodsInput = z.strictObject({ identifier: domain });
export const methodsView = z.object({
  methods: z.array(offeredMethod),
  sso: z.object({ startUrl: z.string() }).optional(),
});

export const openLoginLinkInput = z.strictObject({ token: z.string().min(1).max(200) });
export const loginLinkView = z.object({ url: z.string(), expiresAt: instant });
