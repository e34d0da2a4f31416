import { z } from 'zod';
import type { Context } from '../../../../context.ts';
import type { ScimToken } from '../../../../database/models/scim-token.ts';
import { instant } from '../../../foundation/fields.ts';
import { suspended } from '../../../people/tokens/view.ts';
import { baseOf } from '../base.ts';

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

/** What a new token answers; its value is not shown again. */
export const newScimTokenView = scimTokenView.extend({ token: z.string() });

/** The organization's token, or that there is none; never its value. */
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
