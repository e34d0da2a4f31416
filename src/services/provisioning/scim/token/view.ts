import type { Context } from '../../../../context.ts';
import type { ScimToken } from '../../../../database/models/scim-token.ts';
import { suspended } from '../../../people/tokens/view.ts';
import { baseOf } from '../base.ts';

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
