import { z } from 'zod';
import { instant } from '../fields.ts';
import { startFields } from '../redirect/schema.ts';
import { socialProviders } from './providers.ts';

export const startSocialInput = z.strictObject(startFields);

/** With which providers somebody can be signed in. */
export const socialList = z.object({
  items: z.array(z.object({ provider: z.enum(socialProviders), linkedAt: instant })),
});
export const noSocialInput = z.strictObject({});
