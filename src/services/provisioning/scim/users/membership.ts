import type { Context } from '../../../../context.ts';
import { Membership } from '../../../../database/models/membership.ts';
import { ownsAddress } from '../../../foundation/domain-names/owns.ts';
import type { EventName } from '../../../foundation/events/kinds.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import { calledBy, resourceOf } from '../../../foundation/scim-user/resource.ts';
import { endVouchedTokens } from '../../../people/apps/app.ts';
import { endSessionsPastSecondFactor } from '../../../people/sessions/end.ts';
import { reclaimMember } from '../../../tenancy/identities/reclaim.ts';
import { addMembership, endMembership } from '../../../tenancy/memberships/join-and-leave.ts';
import { findRecordOf, type Held } from '../../../tenancy/scim-records/record.sql.ts';
import { replanPeople } from '../../mappings/apply.ts';
import { isInGroup } from '../groups/groups.sql.ts';

/** Reclaims the account before its person joins (security I3). Returns whether it did. */
export async function reclaimHeld(ctx: Context, held: Held, name: string | null): Promise<boolean> {
  const { record, account } = held;
  // The domain is locked late, because the address is known only once the account is locked.
  const how = { name, late: true };
  if (!(await reclaimMember(ctx, account, record.organizationId, how))) return false;
  Object.assign(record, await findRecordOf(record.organizationId, account.id));
  return true;
}

// Call these functions after the record changes, in the same transaction.

/** Makes the person a member, even after an earlier membership ended (spec §3.2, security I5). */
export async function activateMember(
  ctx: Context,
  { record, account }: Held,
  event: 'scim.user.provisioned' | 'member.added',
): Promise<void> {
  const origin = { kind: 'scim' as const };
  await addMembership(ctx, record.organizationId, account, { role: 'member', origin });
  // An account created just now has no sessions or tokens.
  if (record.link !== 'created' || record.version > 1) {
    await endSessionsPastSecondFactor(ctx, account.id);
    // Requires an address on the organization's domain: SCIM can make any account a member (O8).
    if (await ownsAddress(record.organizationId, account.email))
      await endVouchedTokens(ctx, account.id, record.organizationId);
  }
  await recordEvent(ctx, {
    ...about({ record, account }, event),
    data: { role: 'member', origin: origin.kind, record: record.id, userName: record.userName },
  });
  // Groups keep deactivated people. The roles that their groups give return with the membership.
  if (record.version > 1 && (await isInGroup(record.id)))
    await replanPeople(ctx, record.organizationId, [account.id], 'scim');
}

/** Ends the membership, even of the last owner (spec §3.2). An event reports a missing owner. */
export async function deactivateMember(ctx: Context, held: Held): Promise<void> {
  const { record, account } = held;
  const role = await endMembership(ctx, record.organizationId, account);
  await recordEvent(ctx, {
    ...about(held, 'scim.user.deactivated'),
    data: { record: record.id, userName: record.userName },
  });
  if (role !== 'owner') return;
  const { organizationId } = record;
  const owners = await Membership.count({ where: { organizationId, role: 'owner' } });
  if (owners === 0) await recordEvent(ctx, about(held, 'organization.ownerless'));
}

/** The common fields of an event about the person, with the name from the SCIM client. */
export function about<Kind extends EventName>({ record, account }: Held, kind: Kind) {
  const name = calledBy(resourceOf(record));
  return {
    kind,
    organizationId: record.organizationId,
    subject: { type: 'user', id: account.id, name },
  };
}
