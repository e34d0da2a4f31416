import { z } from 'zod';
import { tokenKinds, tokenScopes } from '../../../database/models/access-token.ts';
import { description, id, instant, name, userRef } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';

/** What takes no room between the signs of a name. */
const unseen = /\p{Default_Ignorable_Code_Point}/gu;

/** The name that a person gives a token; what begins with `bot:` belongs to apps (security P14). */
const ownName = name.refine(
  (text) => !text.normalize('NFKC').replace(unseen, '').toLowerCase().trim().startsWith('bot:'),
  'must not begin with bot:, which is for the tokens of apps',
);
const days = 'must be a whole number of days from 1 to 365';

export const createOwnTokenInput = z.strictObject({
  name: ownName,
  description: description.optional(),
  expiresInDays: z
    .number()
    .min(1, days)
    .max(365, days)
    .multipleOf(1, days)
    .optional()
    .describe('Without it a token of scope admin lives 90 days, which is its most; others until revoked.'),
  scope: z
    .enum(tokenScopes, `must be one of ${tokenScopes.join(', ')}`)
    .optional()
    .describe(
      'read changes nothing; write, the default, does what its owner may, except what lets others in; admin does that ' +
        'too. A token of scope admin is made in a session that passed your own second factor.',
    ),
});
export const createTokenInput = createOwnTokenInput.extend({ user: userRef });
export const listOwnTokensInput = z.strictObject(pageInput);
export const listTokensInput = listOwnTokensInput.extend({ user: userRef });
export const ownTokenInput = z.strictObject({ id });
export const tokenInput = ownTokenInput.extend({ user: userRef.optional() });

export const tokenView = z.object({
  id,
  name: z.string(),
  description: z.string().nullable(),
  prefix: z.string(),
  kind: z.enum(tokenKinds),
  scope: z.enum(tokenScopes),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
  expiresAt: instant.nullable(),
  /** There only while it is suspended: it came out of a backup. */
  suspendedAt: instant.optional(),
});
export const tokenPage = pageOf(tokenView);

/** What making or regenerating a token answers; nobody is shown the value again. */
export const newTokenView = tokenView.extend({ token: z.string() });
