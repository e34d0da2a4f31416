import { z } from 'zod';
import { domain } from '../../foundation/fields.ts';

// The input of the two public steps of a sign-in by redirect, for every provider (RFC 6749 §4.1,
// RFC 9207).

/** The fields of the first step. */
export const startFields = {
  returnTo: z.string().max(2000).optional(),
  flow: z.string().max(200).optional(),
};

/** The URL that the person is sent to. */
export const startView = z.object({ authorizationUrl: z.string() });

/** The parameters that the person brings back. */
export const callbackInput = z.strictObject({
  state: z.string().max(4096).optional(),
  code: z.string().max(4096).optional(),
  iss: z.string().max(2000).optional(),
  error: z.string().max(200).optional(),
  flow: z.string().max(200).optional(),
  fromBrowser: z.boolean(),
});

export const startSsoInput = z.strictObject({ domain, ...startFields });
