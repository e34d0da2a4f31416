import { z } from 'zod';
import { instant } from '../../../foundation/fields.ts';
import { socialProviders } from '../../../tenancy/identities/providers.ts';
import { startFields } from '../../redirect/schema.ts';

export const startSocialInput = z.strictObject(startFields);

/** With which providers somebody can be signed in. */
export const socialList = z.object({
  items: z.array(z.object({ provider: z.enum(socialProviders), linkedAt: instant })),
});
export const noSocialInput = z.strictObject({});
