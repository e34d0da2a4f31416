import { z } from 'zod';
import type { Context } from '../../../../context.ts';
import type { ScimToken } from '../../../../database/models/scim-token.ts';
import { instant } from '../../../foundation/fields.ts';
import { suspended } from '../../../people/tokens/token.ts';
import { baseOf } from '../base.ts';

/** Whether there is a token, and the URL to configure in the client (spec §2.4). */
export const scimTokenView = z.object({
  configured: z.boolean(),
  prefix: z.string().nullable(),
  createdAt: instant.nullable(),
  lastUsedAt: instant.nullable(),
  baseUrl: z.string(),
  /** Present only while it is suspended because it came from a backup. */
  suspendedAt: instant.optional(),
});

/** The answer to making a token. Its value is not shown again. */
export const newScimTokenView = scimTokenView.extend({ token: z.string() });

/** The organization's token, or that there is none. Never its value. */
export function viewScimToken(ctx: Context, organizationId: string, token: ScimToken | null) {
  return {
    configured: token !== null,
    prefix: token?.prefix ?? null,
    createdAt: token?.createdAt.toISOString() ?? null,
    lastUsedAt: token?.lastUsedAt?.toISOString() ?? null,
    baseUrl: baseOf(ctx, organizationId),
    ...(token === null ? {} : suspended(token)),
  };
}
