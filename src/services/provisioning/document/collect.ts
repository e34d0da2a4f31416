import { Op } from 'sequelize';
import { connectionKindNames } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { Domain } from '../../../database/models/domain.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { refuseFaults, refuseField } from '../../../errors.ts';
import { faultOfOrigin } from '../../tenancy/clients/origins.ts';
import { whyShared } from '../../tenancy/domains/domain.ts';
import { requireEncryption } from '../../tenancy/ldap/connection.ts';
import { readText } from '../../tenancy/sso/metadata.ts';
import { readKnownGroups } from '../mappings/facts.sql.ts';
import { findLinkedAccounts, findMembersAmong, listGroups } from './gather.sql.ts';
import type { Outside } from './outside.ts';
import type { Document } from './schema.ts';
import { findBarredOwners, findPeople } from './sections/find-people.ts';
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
    metadata: await readGivenMetadata(ctx, document),
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

async function readGivenMetadata(ctx: Context, { sso }: Document) {
  if (sso?.kind !== 'saml' || sso.metadataXml === undefined) return null;
  if (sso.metadataUrl !== null)
    throw refuseField('document.sso.metadataXml', 'cannot be combined with metadataUrl');
  return readText(ctx, sso.metadataXml, 'document.sso.metadataXml');
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
  // Whether the document removes the origin from the client that has it.
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
