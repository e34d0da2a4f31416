import { z } from 'zod';
import { emailProofs } from '../../../database/models/account.ts';
import { instant } from '../../foundation/fields.ts';
import { userView } from '../accounts/schema.ts';
import { credentialView } from '../credentials/list-credentials.ts';

export const passwordSetView = userView.extend({
  ended: z.object({ sessions: z.int(), tokens: z.int() }),
});

export const shownUserView = userView.extend({
  emailProof: z
    .enum(emailProofs)
    .describe('The proof of the address; none and auto are no proof (security I3).'),
  awaitsCode: z
    .boolean()
    .describe('Whether the account waits for the code that was mailed at its sign-up.'),
  credentials: z.array(credentialView),
  singleSignOn: z
    .boolean()
    .describe('Whether single sign-on is enabled for the domain of the address.'),
  lockouts: z
    .array(
      z.object({
        of: z.enum(['password', 'secondFactor']),
        network: z.string().nullable().describe('Only from this network; null is everywhere else.'),
        until: instant,
      }),
    )
    .describe('The lockouts after too many refused tries.'),
});
