import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority, type Standing } from './require.ts';
import type { OrganizationRight } from './table.ts';

/**
 * Proves that the actor may do this to a thing named by its id alone, in the organization that has
 * it. An account without the right gets `missing`, as if the thing did not exist.
 */
export async function requireAuthorityOver(
  ctx: Context,
  operation: OrganizationRight,
  organizationId: string | undefined,
  missing: Refusal,
): Promise<Standing> {
  try {
    // No organization has an empty name.
    return await requireAuthority(ctx, operation, organizationId ?? '');
  } catch (error) {
    const isHidden = error instanceof Refusal && /^(not_found|forbidden)$/.test(error.code);
    throw isHidden ? missing : error;
  }
}
