import { z } from 'zod';
import { id, instant, name, userRef } from '../fields.ts';
import { pageInput, pageOf } from '../page.ts';

export const registerOwnAppInput = z.strictObject({ name });
export const registerAppInput = registerOwnAppInput.extend({ user: userRef });
export const listOwnAppsInput = z.strictObject(pageInput);
export const listAppsInput = listOwnAppsInput.extend({ user: userRef });
export const revokeOwnAppInput = z.strictObject({
  id,
  keepTokens: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .transform((text) => text === 'true'),
});
export const revokeAppInput = revokeOwnAppInput.extend({ user: userRef.optional() });

export const appView = z.object({
  id,
  name: z.string(),
  clientId: z.string(),
  createdAt: instant,
});
export const appPage = pageOf(appView);

/** What registering answers; nobody is shown the secret again. */
export const newAppView = appView.extend({ clientSecret: z.string() });

/** How a client says who it is, in the form or by Basic (RFC 6749 §2.3.1). */
export const client = {
  client_id: z.string().max(200).optional(),
  client_secret: z.string().max(200).optional(),
};

export const mintTokenInput = z.strictObject({ grant_type: z.string().max(200), ...client });

/** RFC 6749 §5.1. */
export const mintedView = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
});
