import { z } from 'zod';
import { signedInView } from '../sessions/schema.ts';

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
