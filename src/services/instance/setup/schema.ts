import { z } from 'zod';
import { email, name } from '../../foundation/fields.ts';
import { givenPassword } from '../../people/accounts/account.ts';
import { organizationView } from '../../tenancy/organizations/view.ts';

/** The first organization and its owner. Without them, a fresh instance gets default names. */
export const initializeInput = z.strictObject({
  organization: name.optional(),
  owner: email.optional(),
  /** If absent, idctl generates a password. */
  password: givenPassword.optional(),
});

export const initializedView = z.object({
  organization: organizationView,
  /** A generated password is shown once, when the account is created. */
  owner: z.object({ email: z.string().nullable(), password: z.string().nullable() }),
});
