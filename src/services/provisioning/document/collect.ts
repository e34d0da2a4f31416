import { Op } from 'sequelize';
import { connectionKindNames } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { isProvedForGood } from '../../../database/models/account.ts';
import { Domain } from '../../../database/models/domain.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { refuseFaults } from '../../../errors.ts';
import { slowly } from '../../../host/queue.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { listCredentials } from '../../people/credentials/credentials.ts';
import { faultOfOrigin } from '../../tenancy/clients/origins.ts';
import { whyShared } from '../../tenancy/domains/domain.ts';
import { isToReclaim } from '../../tenancy/identities/reclaim.ts';
import { requireEncryption } from '../../tenancy/ldap/connection.ts';
import { findUninvited, inviteAsOwner } from '../../tenancy/memberships/together.ts';
import {
  type Found,
  findByAddresses,
  findLinkedAccounts,
  findMembersAmong,
  listGroups,
  readKnownGroups,
} from './gather.sql.ts';
import type { Outside, Person } from './outside.ts';
import type { Document } from './schema.ts';
import { pruneMappings } from './sections/mappings.ts';
import type { State } from './sections.ts';
import type { PlanInput } from './wanted.ts';

// Reads the facts that a plan needs beyond the organization's own state.

type KnownInput = Pick<PlanInput, 'state' | 'document' | 'prune'>;

/** Reads these facts. Refuses a shared domain, and a directory without the required encryption. */
export async function collectOutside(
  ctx: Context,
  organization: Organization,
  { state, document, prune }: KnownInput,
): Promise<Outside> {
  if (document.ldap) requireEncryption(ctx, document.ldap);
  await refuseShared(state, document);
  const losing = prune || connectionKindNames.some((kind) => document[kind] !== undefined);
  return {
    people: await findPeople(ctx, organization, { state, document }),
    uninvited: await findBarredOwners(ctx, organization, { state, document }),
    taken: await findTaken(organization, document),
    origins: await findBarredOrigins(ctx, organization, { state, document, prune }),
    trusting: ctx.config.trust.domains === 'off',
    linked: {
      sso: losing ? await findLinked(state.sso?.id) : [],
      ldap: losing ? await findLinked(state.ldap?.id) : [],
    },
    ...(await collectGroups(organization, { state, document, prune })),
  };
}

async function refuseShared(state: State, { domains = [] }: Document): Promise<void> {
  const there = new Set(state.domains.map(({ name }) => name));
  const faults: { path: string; message: string }[] = [];
  for (const [at, { domain }] of domains.entries()) {
    const why = there.has(domain) ? null : await whyShared(domain);
    if (why !== null) faults.push({ path: `document.domains.${at}.domain`, message: why });
  }
  if (faults.length === 0) return;
  throw refuseFaults(faults, {
    code: 'domain_shared',
    hint: [
      'Use a domain of your own.',
      { say: 'The operator can add this one anyway', operation: 'domain.override' },
    ],
  });
}

async function findTaken({ id }: Organization, { sso }: Document): Promise<Set<string>> {
  if (!sso) return new Set();
  const others = { [Op.ne]: id };
  const where = { name: sso.emailDomain, state: 'Verified' as const, organizationId: others };
  return new Set((await Domain.findAll({ where })).map(({ name }) => name));
}

async function findBarredOrigins(
  ctx: Context,
  { id }: Organization,
  { state, document: { clients = [] }, prune }: KnownInput,
): Promise<Outside['origins']> {
  const has = new Map(
    state.clients.map(({ name, forwardAuthOrigins }) => [name, forwardAuthOrigins]),
  );
  const wanted = new Map(clients.map(({ name, forwardAuthOrigins }) => [name, forwardAuthOrigins]));
  // Whether the document takes the origin away from the client that has it.
  const isReleased = (origin: string) =>
    state.clients.some(
      ({ name, forwardAuthOrigins }) =>
        forwardAuthOrigins.includes(origin) &&
        (wanted.has(name) ? !wanted.get(name)?.includes(origin) : prune),
    );
  const barred: Outside['origins'] = new Map();
  for (const { name, forwardAuthOrigins } of clients)
    for (const origin of forwardAuthOrigins) {
      if (has.get(name)?.includes(origin)) continue;
      const fault = await faultOfOrigin(ctx, id, { origin, isReleased: isReleased(origin) });
      if (fault !== null) barred.set(origin, fault);
    }
  return barred;
}

/** For each address without a membership: its account, or why it cannot be added (security O8). */
async function findPeople(
  ctx: Context,
  organization: Organization,
  { state, document }: Omit<KnownInput, 'prune'>,
): Promise<Map<string, Person>> {
  const here = new Set(state.members.map(({ email }) => email));
  const said = (document.members ?? []).map(({ email }) => email);
  const unknown = said.filter((email) => !here.has(email));
  const verified = new Set(
    state.domains.filter((domain) => domain.state === 'Verified').map(({ name }) => name),
  );
  const direct = ctx.actor.kind === 'operator' || ctx.config.trust.domains === 'off';
  const allowed = unknown.filter((email) => direct || verified.has(domainOf(email)));
  const found = await findByAddresses(allowed);
  const accounts = new Map(found.map((account) => [account.email, account]));
  const mayAdd = new Set(allowed);
  const people = new Map<string, Person>();
  for await (const email of slowly(unknown)) {
    const account = accounts.get(email);
    if (!mayAdd.has(email)) people.set(email, inviteInstead(organization, email));
    else if (account === undefined) people.set(email, noAccount(email));
    else people.set(email, await addable(ctx, organization, account));
  }
  return people;
}

/** For each member whom only an invitation makes the owner that the document wants, why. */
async function findBarredOwners(
  ctx: Context,
  organization: Organization,
  { state, document: { members = [] } }: Omit<KnownInput, 'prune'>,
): Promise<Outside['uninvited']> {
  const owners = new Set(members.filter(({ role }) => role === 'owner').map(({ email }) => email));
  const rising = state.members.flatMap(({ accountId, email, role }) =>
    email !== null && role !== 'owner' && owners.has(email) ? [{ accountId, email }] : [],
  );
  const uninvited = await findUninvited(
    ctx,
    organization.id,
    rising.map(({ accountId }) => accountId),
  );
  return new Map(
    rising
      .filter(({ accountId }) => uninvited.has(accountId))
      .map(({ email }) => [email, inviteAsOwner(organization, email, email)]),
  );
}

function inviteInstead({ slug }: Organization, email: string): Person {
  return {
    code: 'invite_instead',
    message: `${email} is not on a verified domain of ${slug}.`,
    hint: {
      say: 'Invite the person instead',
      operation: 'invitation.create',
      with: { email, org: slug },
    },
  };
}

function noAccount(email: string): Person {
  return {
    code: 'not_found',
    message: `There is no user ${email}.`,
    hint: {
      say: 'The operator can create the account',
      operation: 'user.create',
      with: { email },
    },
  };
}

/**
 * The account to add. If its e-mail address is not verified, the operator must first decide whether
 * it keeps its credentials.
 */
async function addable(ctx: Context, organization: Organization, account: Found): Promise<Person> {
  const { id: accountId, email } = account;
  if (ctx.actor.kind !== 'operator' || isProvedForGood(account)) return { accountId };
  if (!(await isToReclaim(ctx, account, organization.id))) return { accountId };
  if ((await listCredentials(ctx, accountId)).length === 0) return { accountId };
  const given = { email: email ?? accountId, org: organization.slug };
  return {
    code: 'conflict',
    message: `The account ${email} has credentials, but its address has no valid verification.`,
    hint: [
      { to: 'add the person without the credentials', operation: 'member.add', with: given },
      { to: 'keep the credentials', operation: 'member.add-trusted', with: given },
    ],
  };
}

async function findLinked(connectionId: string | undefined): Promise<string[]> {
  if (connectionId === undefined) return [];
  return findLinkedAccounts(connectionId);
}

/** The groups that may still give a role to people whose role came from a removed mapping. */
async function collectGroups(
  organization: Organization,
  { state, document, prune }: KnownInput,
): Promise<Pick<Outside, 'groups' | 'pushed'>> {
  const { removed, left } = prune ? pruneMappings({ state, document }) : { removed: [], left: [] };
  const gone = new Set(removed.map(({ id }) => id));
  const given = [
    ...state.projectMembers,
    ...state.members.map(({ accountId, given }) => ({ accountId, ...given })),
  ];
  const losing = given.filter(({ mappingId }) => mappingId && gone.has(mappingId));
  const accountIds = [...new Set(losing.map(({ accountId }) => accountId))];
  if (accountIds.length === 0) return { groups: new Map(), pushed: new Map() };
  const named = new Set(left.map(({ group }) => group));
  return {
    groups: await readClaims(state, accountIds),
    pushed: await readPushed(organization, accountIds, named),
  };
}

/** By account: the names and external ids of its SCIM groups that a mapping names. */
async function readPushed(
  { id: organizationId }: Organization,
  accountIds: readonly string[],
  named: ReadonlySet<string>,
): Promise<Outside['pushed']> {
  const groups = await listGroups(organizationId);
  const pushed: Outside['pushed'] = new Map();
  for (const { id, name, externalId } of groups) {
    const names = [name, externalId ?? name].filter((one) => named.has(one));
    if (names.length === 0) continue;
    const members = await findMembersAmong(organizationId, id, accountIds);
    for (const accountId of members)
      pushed.set(accountId, [...(pushed.get(accountId) ?? []), ...names]);
  }
  return pushed;
}

/** The groups of the last known claims, by connection and account. */
async function readClaims(state: State, accountIds: readonly string[]): Promise<Outside['groups']> {
  const claims: Outside['groups'] = new Map();
  for (const kind of connectionKindNames) {
    const by = state[kind]?.id;
    if (by === undefined) continue;
    const rows = await readKnownGroups(by, accountIds);
    for (const { accountId, groups } of rows) claims.set(`${by} ${accountId}`, groups);
  }
  return claims;
}
