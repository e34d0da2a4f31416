import type { Context } from '../../../../context.ts';
import { Membership } from '../../../../database/models/membership.ts';
import { ownsAddress } from '../../../foundation/domain-names/owns.ts';
import type { EventName } from '../../../foundation/events/kinds.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import { calledBy } from '../../../foundation/scim-user/called.ts';
import { resourceOf } from '../../../foundation/scim-user/resource.ts';
import { endVouchedTokens } from '../../../people/apps/end-vouched.ts';
import { endSessionsPastSecondFactor } from '../../../people/sessions/end.ts';
import { reclaimMember } from '../../../tenancy/identities/reclaim.ts';
import { endMembership } from '../../../tenancy/memberships/deactivate.ts';
import { addMembership } from '../../../tenancy/memberships/join.ts';
import { findRecordOf, type Held } from '../../../tenancy/scim-records/find.ts';

/**
 * Reclaims the account of a person who is about to become a member (security I3). Returns whether
 * it did; the record is then updated. Call it before the record changes.
 */
export async function reclaimHeld(ctx: Context, held: Held, name: string | null): Promise<boolean> {
  const { record, account } = held;
  if (!(await reclaimMember(ctx, account, record.organizationId, name))) return false;
  Object.assign(record, await findRecordOf(record.organizationId, account.id));
  return true;
}

// Call the following functions after the record changes, in the same transaction.

/**
 * Makes the person a member with role Member, whatever ended their last membership (spec §3.2,
 * security I5).
 */
export async function activateMember(
  ctx: Context,
  { record, account }: Held,
  event: 'scim.user.provisioned' | 'member.added',
): Promise<void> {
  const origin = { kind: 'scim' as const };
  await addMembership(ctx, record.organizationId, account.id, { role: 'member', origin });
  // An account that was just made has none.
  if (record.link !== 'created' || record.version > 1) {
    await endSessionsPastSecondFactor(ctx, account.id);
    // Only for an address on the organization's own domain: a pushed membership must not end tokens
    // on other domains (security O8).
    if (await ownsAddress(record.organizationId, account.email))
      await endVouchedTokens(ctx, account.id, record.organizationId);
  }
  await recordEvent(ctx, {
    ...about({ record, account }, event),
    data: { role: 'member', origin: origin.kind, record: record.id, userName: record.userName },
  });
}

/**
 * Ends the membership, even the last owner's (spec §3.2). An event records that the organization
 * has no owner.
 */
export async function deactivateMember(ctx: Context, held: Held): Promise<void> {
  const { record, account } = held;
  const role = await endMembership(ctx, record.organizationId, account);
  await recordEvent(ctx, {
    ...about(held, 'scim.user.deactivated'),
    data: { record: record.id, userName: record.userName },
  });
  if (role === 'owner' && !(await hasOwner(record.organizationId)))
    await recordEvent(ctx, about(held, 'organization.ownerless'));
}

/** The event's subject: the person, under the client's name for them. */
export function about<Kind extends EventName>({ record, account }: Held, kind: Kind) {
  const name = calledBy(resourceOf(record));
  return {
    kind,
    organizationId: record.organizationId,
    subject: { type: 'user', id: account.id, name },
  };
}

async function hasOwner(organizationId: string): Promise<boolean> {
  return (await Membership.findOne({ where: { organizationId, role: 'owner' } })) !== null;
}
