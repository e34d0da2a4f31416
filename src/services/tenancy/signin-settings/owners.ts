import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { Membership } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { Refusal } from '../../../errors.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { findPasskeyObstacle } from '../../people/passkeys/relying-party.ts';
import { isApproved } from '../connections/approval.ts';
import { isOwnerAnywhere } from '../connections/owners.ts';
import { findUsable } from '../connections/usable.ts';
import { findSocialClient, socialProviders } from '../identities/social-providers.ts';
import { findPushedOwners } from '../memberships/memberships.sql.ts';
import {
  findGoverningSettings,
  type Governing,
  isMethodAllowed,
  type SignInRules,
} from './governing.ts';

// A way to sign in counts only if it is known to lead to the account:
// - a password that is set or can be set by mail, or a mailed code;
// - a passkey that does not need a password;
// - a linked Google or GitHub, unless restricted to verified domains: its address may change;
// - single sign-on for the address, or a directory for the address or linked to the account. An
//   owner needs the approval of the connection (security I8).

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
    const governing = await findGoverningSettings(ctx, owner.email);
    const settings = governing.organizationId === organization.id ? after : governing.settings;
    if (await canSignIn(ctx, owner, { ...governing, settings })) return;
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

function takesAway(before: SignInRules, after: SignInRules): boolean {
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

/** Whether the account has a way to sign in; with `without`, as if this passkey, or all, were removed. */
export async function hasWayIn(
  ctx: Context,
  account: Account,
  { without }: { without?: string | 'all' } = {},
): Promise<boolean> {
  return canSignIn(ctx, account, await findGoverningSettings(ctx, account.email), without);
}

async function canSignIn(
  ctx: Context,
  owner: Account,
  governing: Governing,
  without?: string,
): Promise<boolean> {
  const mailed = isMailConfigured(ctx) && owner.email !== null;
  if (isMethodAllowed(governing, 'password') && (owner.passwordHash !== null || mailed))
    return true;
  if (isMethodAllowed(governing, 'magicCode') && mailed) return true;
  if (await hasPasskey(ctx, governing, owner, without)) return true;
  const linked = await Identity.findAll({ where: { accountId: owner.id } });
  if (hasSocial(ctx, governing, linked)) return true;
  const sso = owner.email === null ? null : await findUsable(ctx, domainOf(owner.email));
  const connections = [
    ...(sso === null ? [] : [sso]),
    ...(await findDirectories(governing, linked)),
  ];
  // An unapproved connection does not sign an owner in, whatever the organization (security I8).
  return (
    connections.some(isApproved) || (connections.length > 0 && !(await isOwnerAnywhere(owner.id)))
  );
}

async function hasPasskey(
  ctx: Context,
  governing: Governing,
  { id: accountId }: Account,
  without?: string,
): Promise<boolean> {
  if (!isMethodAllowed(governing, 'passkey') || findPasskeyObstacle(ctx) !== null) return false;
  if (without === 'all') return false;
  const others = without === undefined ? {} : { id: { [Op.ne]: without } };
  return (
    (await Passkey.count({ where: { accountId, signsIn: true, suspendedAt: null, ...others } })) > 0
  );
}

function hasSocial(ctx: Context, governing: Governing, linked: Identity[]): boolean {
  if (governing.settings.restrictOauthToVerifiedDomains) return false;
  return socialProviders.some(
    (provider) =>
      isMethodAllowed(governing, provider) &&
      findSocialClient(ctx, provider) !== null &&
      linked.some(({ connectionId }) => connectionId === provider),
  );
}

async function findDirectories(
  { organizationId, verified }: Governing,
  linked: Identity[],
): Promise<LdapConnection[]> {
  const enabled = await LdapConnection.findAll({ where: { enabled: true } });
  return enabled.filter(
    (connection) =>
      (verified && connection.organizationId === organizationId) ||
      linked.some(({ connectionId }) => connectionId === connection.id),
  );
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
