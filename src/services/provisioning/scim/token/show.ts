import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { ScimToken } from '../../../../database/models/scim-token.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import type { scimTokenInput } from './schema.ts';
import { viewScimToken } from './view.ts';

/** Whether the organization has a SCIM token, its prefix and when it was last used (spec §2.4). */
export async function showScimToken(ctx: Context, input: z.output<typeof scimTokenInput>) {
  const { organization } = await requireAuthority(ctx, 'scim.see', input.org);
  return viewScimToken(ctx, organization.id, await ScimToken.findByPk(organization.id));
}
