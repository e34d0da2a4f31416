import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Domain } from '../../database/models/domain.ts';
import { Organization } from '../../database/models/organization.ts';
import { requireAuthority } from '../authority/require.ts';
import type { signInSettingsRefInput } from './schema.ts';

/** Whether the organization's sign-in settings hold for no address: what whoever sets them has to be told. */
export async function showsNoReach(ctx: Context, input: z.output<typeof signInSettingsRefInput>) {
  const { organization } = await requireAuthority(ctx, 'signin.see', input.org);
  return governsNobody(organization);
}

/** Whether it has verified no domain and is not the only organization, so that it governs nobody (security O1). */
export async function governsNobody({ id: organizationId }: Organization): Promise<boolean> {
  if ((await Domain.count({ where: { organizationId, state: 'Verified' } })) > 0) return false;
  return (await Organization.count()) > 1;
}
