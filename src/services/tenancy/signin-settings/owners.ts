import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import { firstKey } from '../../foundation/page.ts';
import { findPushedOwners } from '../memberships/memberships.sql.ts';
import type { SignInRules } from './governing.ts';
import { readOwnerHoldings } from './holdings.sql.ts';
import { domainFor, findReaches, hasWayIn, isWayIn, type Planned } from './ways.ts';

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
  const owners = await findOwners(organization);
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
  const owners = await findOwners(organization);
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

/** The owners that one query reads. */
const readAtOnce = 500;

/** How many owners are not disabled, and the first of those without a way to sign in. */
interface OwnersFound {
  owners: number;
  stuck: { called: string; ref: string }[];
}

/**
 * Counts the owners who are not disabled, and lists the first `max` without a way to sign in, in
 * every organization whose id is between the two. Returns a function of the organization's id.
 */
export async function findOwnersWithoutWay(
  ctx: Context,
  { first, last, max }: { first: string; last: string; max: number },
): Promise<(organizationId: string) => OwnersFound> {
  const found = new Map<string, OwnersFound>();
  const foundIn = (organizationId: string) => found.get(organizationId) ?? { owners: 0, stuck: [] };
  let after = { organizationId: first, accountId: firstKey };
  for (;;) {
    const holdings = await readOwnerHoldings(after, last, readAtOnce);
    const reachFor = await findReaches(ctx, holdings.map(domainFor));
    for (const holding of holdings) {
      const { id, organizationId, email, name } = holding;
      after = { organizationId, accountId: id };
      const { owners, stuck } = foundIn(organizationId);
      if (stuck.length < max && !isWayIn(ctx, holding, reachFor(domainFor(holding))))
        stuck.push({ called: email ?? name, ref: email ?? id });
      found.set(organizationId, { owners: owners + 1, stuck });
    }
    if (holdings.length < readAtOnce) return foundIn;
  }
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
    limit: maxJudged,
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
