import { z } from 'zod';
import {
  email,
  givenInvitation,
  id,
  instant,
  locale,
  name,
  userRef,
} from '../../foundation/fields.ts';

/**
 * A password as given at sign-in: only its size is checked, so that the refusal of a wrong one
 * tells nothing.
 */
export const givenPassword = z.string().min(1, 'is required').max(1024, 'is too long');

export const userRefInput = z.strictObject({ user: userRef });
export const signUpInput = z.strictObject({
  email,
  password: givenPassword,
  name,
  locale: locale.optional(),
  invitation: givenInvitation.optional(),
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
