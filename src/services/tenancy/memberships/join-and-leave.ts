import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import type { Account } from '../../../database/models/account.ts';
import { Membership, type Origin, type Role } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { shownIn } from '../../foundation/authority/shown.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { endVouchedTokens } from '../../people/apps/app.ts';
import { endSessionsPastSecondFactor } from '../../people/sessions/end.ts';
import { recordLeft, recordMember } from '../scim-records/member.ts';
import { deleteMembership, insertMembership } from './join-and-leave.sql.ts';
import { type holdMembership, isSyncedBy } from './membership.ts';
import { isJoined } from './memberships.sql.ts';
import { endUnapproved } from './promotion.ts';
import { liftFormerAddresses } from './removed.ts';

type Person = Pick<Account, 'id' | 'email'>;

interface Joining {
  role: Role;
  origin: Origin;
}

/**
 * Writes a membership and lifts the tombstone, if any. An invitation also replaces a membership for
 * which `pushedIn` holds. Refuses with `already_exists` for any other member.
 */
export async function joinOrganization(
  ctx: Context,
  organization: Pick<Organization, 'id' | 'slug'>,
  account: Account,
  as: Joining,
): Promise<Membership> {
  await hold.account(account.id);
  const membership =
    (await replacePushed(ctx, organization.id, account, as)) ??
    (await refusingDuplicate(addMembership(ctx, organization.id, account, as), {
      message: `${account.email ?? account.name} is already a member of ${organization.slug}.`,
      hint: {
        to: 'change the role',
        operation: 'member.role',
        with: { user: account.email ?? undefined, org: organization.slug },
      },
    }));
  await endSessionsPastSecondFactor(ctx, account.id);
  await endVouchedTokens(ctx, account.id, organization.id);
  await recordMember(ctx, organization.id, account);
  const { name } = await shownIn(organization.id, account);
  await recordEvent(ctx, {
    kind: 'member.added',
    organizationId: organization.id,
    subject: { type: 'user', id: account.id, name },
    data: { role: membership.role, origin: as.origin.kind },
  });
  return membership;
}

/**
 * If `pushedIn` holds for the person's membership, gives it the role and origin of the invitation
 * that the person accepted (security O8). Returns it, or null if there is none. An owner stays
 * owner, because only an owner may withdraw that role. Call it with the account locked.
 */
async function replacePushed(
  ctx: Context,
  organizationId: string,
  { id: accountId, email }: Person,
  { role: invitedAs, origin }: Joining,
): Promise<Membership | null> {
  if (origin.kind !== 'invitation' || (await isJoined(ctx, organizationId, accountId))) return null;
  const pushed = await Membership.findOne({ where: { organizationId, accountId } });
  if (pushed === null) return null;
  const role = pushed.role === 'owner' ? 'owner' : invitedAs;
  await pushed.update({ role, origin, synced: isSyncedBy(origin), joinedAt: ctx.now });
  await liftFormerAddresses(ctx, organizationId, [email]);
  if (role === 'owner') await endUnapproved(ctx, organizationId, [accountId]);
  return pushed;
}

/**
 * Writes a membership and lifts the removal of its person. Does not write a SCIM record or an
 * event. Ends what must not reach a new owner (security I8). Bypasses the ORM.
 */
export async function addMembership(
  ctx: Context,
  organizationId: string,
  { id: accountId, email }: Person,
  as: Joining,
): Promise<Membership> {
  const key = { organizationId, accountId };
  const { role, origin } = as;
  const synced = isSyncedBy(origin);
  const hasFormer = await insertMembership({ ...key, ...as, synced, joinedAt: ctx.now });
  hold.created('membership', [`${organizationId} ${accountId}`]);
  if (hasFormer) await liftFormerAddresses(ctx, organizationId, [email]);
  if (role === 'owner') await endUnapproved(ctx, organizationId, [accountId]);
  return Membership.build({ ...key, ...as, synced, joinedAt: ctx.now }, { isNewRecord: false });
}

/**
 * Makes an account a member, unless it already is one (spec §4.1, §4.2). This lifts a tombstone, so
 * refuse removed people first.
 */
export async function ensureMember(
  ctx: Context,
  organizationId: string,
  account: Account,
  origin: Origin,
): Promise<void> {
  if ((await Membership.findOne({ where: { organizationId, accountId: account.id } })) !== null)
    return;
  const organization = await Organization.findByPk(organizationId, { rejectOnEmpty: true });
  await joinOrganization(ctx, organization, account, { role: 'member', origin });
}

/** Like `endMembership`, but locks the account and updates its SCIM record. */
export async function deactivate(
  ctx: Context,
  organizationId: string,
  account: Pick<Account, 'id' | 'email'>,
): Promise<void> {
  await hold.account(account.id);
  await recordLeft(ctx, organizationId, account.id);
  await endMembership(ctx, organizationId, account);
}

/** Ends the membership of the caller or of another person manually, with its event. */
export async function endMember(
  ctx: Context,
  organizationId: string,
  { membership, account, shown }: Awaited<ReturnType<typeof holdMembership>>,
): Promise<void> {
  await deactivate(ctx, organizationId, account);
  await recordEvent(ctx, {
    kind: 'member.removed',
    ...eventAbout('user', { id: account.id, name: shown.name }, organizationId),
    data: { role: membership.role },
  });
}

/**
 * Deletes the membership and the project memberships, and sets the tombstone. Ends the sessions
 * that began through the organization's connections, or all sessions if the organization has
 * verified the address's domain. Revokes the pending invitation (security I5), and ends the
 * person's sign-ins at the organization's clients. Returns the former role. Call it with the
 * account locked. Bypasses the ORM, because SCIM ends thousands of memberships.
 */
export async function endMembership(
  ctx: Context,
  organizationId: string,
  account: Pick<Account, 'id' | 'email'>,
): Promise<Role | null> {
  const domain = account.email === null ? null : domainOf(account.email);
  return deleteMembership({ organizationId, account, domain }, ctx.now);
}
