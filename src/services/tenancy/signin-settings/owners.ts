import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import { findPushedOwners } from '../memberships/memberships.sql.ts';
import type { SignInRules } from './governing.ts';
import { hasWayIn } from './ways.ts';

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
  const owners = await findOwners(organization);
  const pushed = await findPushedOwners(ctx, organization.id);
  for (const owner of owners) {
    // The result would reveal facts about an account that is not the organization's own (security
    // O8).
    if (pushed.has(owner.id)) continue;
    const planned = { organizationId: organization.id, settings: after };
    if (await hasWayIn(ctx, owner, { planned })) return;
  }
  if (owners.length > 0) throw lockedOut(organization, owners);
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
  const before = await findOwnersLetIn(ctx, organization);
  const done = await change();
  if (before.length > 0 && (await findOwnersLetIn(ctx, organization)).length === 0)
    throw lockedOut(
      organization,
      // A setup link does not learn who the owners are (security O13).
      ctx.actor.kind === 'setupLink' ? [] : before,
      otherwise,
    );
  return done;
}

/** The owners who can sign in, except those whose accounts are not the organization's own. */
async function findOwnersLetIn(ctx: Context, organization: Organization): Promise<Account[]> {
  const owners = await findOwners(organization);
  const pushed = await findPushedOwners(ctx, organization.id);
  const letIn: Account[] = [];
  for (const owner of owners)
    if (!pushed.has(owner.id) && (await hasWayIn(ctx, owner))) letIn.push(owner);
  return letIn;
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

async function findOwners({ id: organizationId }: Organization): Promise<Account[]> {
  const memberships = await Membership.findAll({
    where: { organizationId, role: 'owner' },
    include: { model: Account, as: 'account', required: true, where: { disabledAt: null } },
    order: ['accountId'],
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
