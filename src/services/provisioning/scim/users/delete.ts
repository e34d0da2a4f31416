import type { Context } from '../../../../context.ts';
import { transaction } from '../../../../database/transaction.ts';
import { requireScim } from '../../../foundation/authority/require.ts';
import { requireHeld } from '../../../tenancy/scim-records/record.ts';
import { changeRecord } from '../../../tenancy/scim-records/write.ts';
import { requireMatch } from './checks.ts';
import type { AtUser } from './input.ts';
import { deactivateMember } from './membership.ts';

/**
 * Deactivates a User, the same as `active` false (spec §4.3). Repeating it changes nothing. Under
 * `scim.deleteMode: remove` the User is gone for the client too (RFC 7644 §3.6).
 */
export async function deleteUserResource(
  ctx: Context,
  { org, id, ifMatch }: AtUser,
): Promise<void> {
  const organizationId = requireScim(ctx, org);
  const hidden = ctx.config.scim.deleteMode === 'remove';
  await transaction(async () => {
    const held = await requireHeld(organizationId, id);
    requireMatch(ifMatch, held.record.version);
    const wasActive = held.record.active;
    if (wasActive || hidden) await changeRecord(ctx, held.record, { active: false, hidden });
    if (wasActive) await deactivateMember(ctx, held);
  });
}
