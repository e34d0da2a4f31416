import { z } from 'zod';
import { id, instant, userRef } from '../../foundation/fields.ts';
import { pageInput } from '../../foundation/page.ts';

export const listIdentitiesInput = z.strictObject({ user: userRef, ...pageInput });
/** One identity, or without an id all of the account's. */
export const unlinkIdentitiesInput = z
  .strictObject({ id: id.optional(), user: userRef.optional() })
  .refine(({ id, user }) => id !== undefined || user !== undefined, {
    path: ['id'],
    error: 'is required, or --user',
  });

export const identityView = z.object({
  id,
  kind: z.enum(['sso', 'ldap', 'social']),
  /** The id of the connection, or the name of the social provider. */
  connection: z.string(),
  issuer: z.string(),
  subject: z.string(),
  linkedAt: instant,
  /** Its connection was removed: it holds its account for one that is made again in its place. */
  former: z.literal(true).optional(),
});

/** What was taken off an account, and how many sessions ended with it. */
export const unlinkedView = z.object({
  email: z.string().nullable(),
  name: z.string(),
  identities: z.array(identityView),
  sessionsEnded: z.int(),
});
