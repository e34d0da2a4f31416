import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import type { organizationRefInput } from './schema.ts';
import { viewOrganization } from './view.ts';

/** One organization, to its members and the operator. */
export async function showOrganization(ctx: Context, input: z.output<typeof organizationRefInput>) {
  const { organization, role } = await requireAuthority(ctx, 'organization.see', input.org);
  return viewOrganization(organization, role);
}
