import { z } from 'zod';
import { emailProofs } from '../../../database/models/account.ts';
import { email, givenInvitation, id, instant, locale, name, userRef } from '../../foundation/fields.ts';
import { pageInput } from '../../foundation/page.ts';

/** A password as given at sign-in: only bounded, so that the refusal of a wrong one tells nothing. */
export const givenPassword = z.string().min(1, 'is required').max(1024, 'is too long');

export const createUserInput = z.strictObject({
  email,
  name,
  locale: locale.optional(),
  password: givenPassword.optional(),
});
export const listUsersInput = z.strictObject(pageInput);
export const userRefInput = z.strictObject({ user: userRef });
export const setUserPasswordInput = z.strictObject({
  user: userRef,
  password: givenPassword,
  keepTokens: z.boolean().optional(),
});
export const signUpInput = z.strictObject({
  email,
  password: givenPassword,
  name,
  locale: locale.optional(),
  invitation: givenInvitation.optional(),
});
export const changePasswordInput = z.strictObject({
  currentPassword: givenPassword,
  newPassword: givenPassword,
});

export const userView = z.object({
  id,
  email: z.string().nullable(),
  emailVerified: z.boolean(),
  name: z.string(),
  locale: z.string(),
  twoFactorEnabled: z.boolean(),
  disabled: z.boolean(),
  createdAt: instant,
});

export const passwordSetView = userView.extend({
  ended: z.object({ sessions: z.int(), tokens: z.int() }),
});

/** One kind of what lets its holder into an account. */
export const credentialView = z.object({
  kind: z.enum(['password', 'totp', 'pat', 'bot', 'app', 'session', 'identity']),
  organization: z.string().nullable().describe('Of an identity: the organization, or the social provider.'),
  count: z.number().int(),
  first: instant.nullable().describe('When the oldest was made; null for a password.'),
  last: instant.nullable().describe('When the newest was made; null for a password.'),
});

export const shownUserView = userView.extend({
  emailProof: z
    .enum(emailProofs)
    .describe('Who has proved the address; none and auto are no proof (security I3).'),
  awaitsCode: z.boolean().describe('Whether the account waits for the code that was mailed at its sign-up.'),
  credentials: z.array(credentialView),
  singleSignOn: z.boolean().describe('Whether single sign-on is enabled for the domain of the address.'),
  lockouts: z
    .array(
      z.object({
        of: z.enum(['password', 'secondFactor']),
        network: z.string().nullable().describe('Only from this network; null is everywhere else.'),
        until: instant,
      }),
    )
    .describe('What cannot be tried for a while, after too many refused tries.'),
});
