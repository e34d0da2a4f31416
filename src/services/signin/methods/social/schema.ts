import { z } from 'zod';
import { instant } from '../../../foundation/fields.ts';
import { socialProviders } from '../../../tenancy/identities/providers.ts';
import { startFields } from '../../redirect/schema.ts';

export const startSocialInput = z.strictObject(startFields);

/** The social providers that the person can sign in with. */
export const socialList = z.object({
  items: z.array(z.object({ provider: z.enum(socialProviders), linkedAt: instant })),
});
export const noSocialInput = z.strictObject({});
