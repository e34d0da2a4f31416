import { z } from 'zod';
import { instant } from '../fields.ts';
import { signedInView } from '../sessions/schema.ts';
import { socialProviders } from './providers.ts';

export const startSocialInput = z.strictObject({
  returnTo: z.string().max(2000).optional(),
  flow: z.string().max(200).optional(),
});
export const startSocialView = z.object({ authorizationUrl: z.string() });

export const finishSocialInput = z.strictObject({
  state: z.string().max(4096).optional(),
  code: z.string().max(4096).optional(),
  iss: z.string().max(2000).optional(),
  error: z.string().max(200).optional(),
  flow: z.string().max(200).optional(),
  fromBrowser: z.boolean(),
});
export const finishSocialView = signedInView;

/** With which providers somebody can be signed in. */
export const socialList = z.object({
  items: z.array(z.object({ provider: z.enum(socialProviders), linkedAt: instant })),
});
export const noSocialInput = z.strictObject({});
