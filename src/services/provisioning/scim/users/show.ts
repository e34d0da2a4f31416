import type { Context } from '../../../../context.ts';
import { requireScim } from '../../../foundation/authority/require.ts';
import { requireRecord } from '../../../tenancy/scim-records/record.ts';
import { readProjection } from '../view.ts';
import type { AtUser } from './input.ts';
import { type Presented, presentUser } from './present.ts';

/** Shows one User (RFC 7644 §3.4.1). */
export async function showUserResource(ctx: Context, input: AtUser): Promise<Presented> {
  const organizationId = requireScim(ctx, input.org);
  const project = readProjection(input);
  return presentUser(ctx, await requireRecord(organizationId, input.id), project);
}
