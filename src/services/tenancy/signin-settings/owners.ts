import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import { findPushedOwners } from '../memberships/memberships.sql.ts';
import type { SignInRules } from './governing.ts';
import { hasWayIn, type Planned } from './ways.ts';

/** The owners that a change looks at: it holds rows that others are waiting for (security O15). */
const maxJudged = 100;

/**
 * Refuses with `owners_locked_out` if a change does not leave an owner a way to sign in (security
 * O3).
 */
export async function requireOwnersLetIn(
  ctx: Context,
  organization: Organization,
  { before, after }: { before: SignInRules; after: SignInRules },
): Promise<void> {
  if (!takesAway(before, after)) return;
  const planned = { organizationId: organization.id, settings: after };
  const owners = await findOwners(organization, maxJudged);
  if (owners.length === 0 || (await isAnyLetIn(ctx, organization, owners, planned))) return;
  throw lockedOut(organization, owners);
}

/**
 * Runs a change of a connection or domain. Refuses with `owners_locked_out` if owners could sign in
 * before, and not one can after (security I8, O3). `otherwise` says how to make the change then.
 * Call it in a transaction.
 */
export async function keepOwnersIn<Done>(
  ctx: Context,
  organization: Organization,
  change: () => Promise<Done>,
  { otherwise }: { otherwise: string },
): Promise<Done> {
  const owners = await findOwners(organization, maxJudged);
  const before = await isAnyLetIn(ctx, organization, owners);
  const done = await change();
  if (before && !(await isAnyLetIn(ctx, organization, owners)))
    throw lockedOut(
      organization,
      // A setup link does not learn who the owners are (security O13).
      ctx.actor.kind === 'setupLink' ? [] : owners,
      otherwise,
    );
  return done;
}

/** Whether one of the owners can sign in; with `planned`, as if these settings were saved. */
async function isAnyLetIn(
  ctx: Context,
  organization: Organization,
  owners: Account[],
  planned?: Planned,
): Promise<boolean> {
  const pushed = await findPushedOwners(ctx, organization.id);
  for (const owner of owners) {
    // The result would reveal facts about an account that is not the organization's own (security
    // O8).
    if (pushed.has(owner.id)) continue;
    if (await hasWayIn(ctx, owner, planned && { planned })) return true;
  }
  return false;
}

/** Counts the owners who are not disabled, and lists those without a way to sign in. */
export async function findOwnersWithoutWay(ctx: Context, organization: Organization) {
  const owners = await findOwners(organization);
  const stuck: { called: string; ref: string }[] = [];
  for (const owner of owners) {
    if (await hasWayIn(ctx, owner)) continue;
    stuck.push({ called: owner.email ?? owner.name, ref: owner.email ?? owner.id });
  }
  return { owners: owners.length, stuck };
}

/** Whether the change of the settings takes a way to sign in from anyone. */
export function takesAway(before: SignInRules, after: SignInRules): boolean {
  const ways = ['password', 'passkey', 'magicCode', 'google', 'github'] as const;
  if (!before.restrictOauthToVerifiedDomains && after.restrictOauthToVerifiedDomains) return true;
  return ways.some((way) => before[way] && !after[way]);
}

async function findOwners(
  { id: organizationId }: Organization,
  limit?: number,
): Promise<Account[]> {
  const memberships = await Membership.findAll({
    where: { organizationId, role: 'owner' },
    include: { model: Account, as: 'account', required: true, where: { disabledAt: null } },
    order: ['accountId'],
    ...(limit === undefined ? {} : { limit }),
  });
  return memberships.map(({ account }) => account);
}

function lockedOut({ slug }: Organization, owners: Account[], otherwise = ''): Refusal {
  const named = owners.slice(0, 3).map(({ email, name }) => email ?? name);
  const more = owners.length > named.length ? ` and ${owners.length - named.length} more` : '';
  const who = owners.length === 0 ? '' : `: ${named.join(', ')}${more}`;
  const message = `No owner of ${slug} could sign in any more${who}.`;
  return new Refusal('owners_locked_out', message, {
    hint: `${otherwise} Leave one of them a way to sign in. A passkey counts if it does not need a password. Google and GitHub count if they are linked, unless restricted to verified domains. Single sign-on and LDAP count if enabled for the address. A code counts if the instance sends mail.`.trim(),
  });
}
