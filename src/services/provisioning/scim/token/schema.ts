import { z } from 'zod';
import { instant, ref } from '../../../foundation/fields.ts';

export const scimTokenInput = z.strictObject({ org: ref });

/** Whether there is a token, and where the client is to be pointed at (spec §2.4). */
export const scimTokenView = z.object({
  configured: z.boolean(),
  prefix: z.string().nullable(),
  createdAt: instant.nullable(),
  lastUsedAt: instant.nullable(),
  baseUrl: z.string(),
  /** There only while it is suspended: it came out of a backup. */
  suspendedAt: instant.optional(),
});

/** What a new token answers; nobody is shown its value again. */
export const newScimTokenView = scimTokenView.extend({ token: z.string() });
