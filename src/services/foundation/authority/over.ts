import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority, type Standing } from './require.ts';
import type { OrganizationRight } from './table.ts';

/**
 * Like `requireAuthority`, for a thing given only by its id, in the organization that it belongs
 * to. If the actor's role is not enough, throws `missing`, as if it did not exist.
 */
export async function requireAuthorityOver(
  ctx: Context,
  operation: OrganizationRight,
  organizationId: string | undefined,
  missing: Refusal,
): Promise<Standing> {
  try {
    // An empty name does not match any organization.
    return await requireAuthority(ctx, operation, organizationId ?? '');
  } catch (error) {
    const isHidden = error instanceof Refusal && /^(not_found|forbidden)$/.test(error.code);
    throw isHidden ? missing : error;
  }
}
