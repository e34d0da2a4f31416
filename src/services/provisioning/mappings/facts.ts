import type { Origin } from '../../../database/models/membership.ts';
import { slowly } from '../../../host/queue.ts';
import {
  holdMemberRows,
  type MemberRow,
  readGivingMappings,
  readKnownGroups,
  readMemberRows,
  readProjectMembers,
  readPushedGroups,
} from './facts.sql.ts';
import {
  type Because,
  type Current,
  type CurrentOrgRole,
  type Fate,
  groupsHeld,
  type HeldGroup,
  type Mapping,
  type OrgMapping,
  type Plan,
  planMemberships,
  planOrgRole,
  spellInDirectory,
} from './plan.ts';
import { assumedKind, findSources, type GroupSource } from './source.ts';

// Everything that decides people's roles: the organization's mappings, people's groups from every
// source, and their current roles. Reads many people in few statements.

/** The organization's mappings, and the connections that provide groups. */
export interface Rules {
  organizationId: string;
  sources: GroupSource[];
  mappings: Mapping[];
  orgMappings: OrgMapping[];
  /** The mapped group names in canonical directory spelling; empty without a directory. */
  spelled: ReadonlyMap<string, string>;
}

/** A member's groups and roles. */
export interface PersonFacts {
  /** The last known claim of each connection, by its id. */
  claims: Map<string, readonly string[]>;
  /** The groups that SCIM pushed. */
  scim: { displayName: string; externalId: string | null }[];
  orgRole: CurrentRole;
  current: CurrentIn[];
}

type Held<Row> = Omit<Row, 'fate' | 'because'> & { origin: Origin };
type CurrentRole = Held<CurrentOrgRole>;
type CurrentIn = Held<Current>;

/** The role of a person who is not a member yet. */
export const newMember: CurrentRole = {
  role: 'member',
  synced: true,
  origin: { kind: assumedKind },
};

/**
 * Reads the mappings to roles in the organization and its own projects (security I7), oldest first.
 * An organization has at most 10,000 mappings.
 */
export async function readRules(organizationId: string): Promise<Rules> {
  const rows = await readGivingMappings(organizationId);
  const sources = await findSources(organizationId);
  return {
    organizationId,
    sources,
    spelled: sources.some(({ searchBase }) => searchBase !== null)
      ? await spellNames(rows.map(({ group }) => group))
      : new Map(),
    mappings: rows.flatMap(({ id, group, projectId, role }) =>
      projectId === null || role === null ? [] : [{ id, group, projectId, role }],
    ),
    orgMappings: rows.flatMap(({ id, group, orgRole }) =>
      orgRole === null ? [] : [{ id, group, orgRole }],
    ),
  };
}

/** The names in canonical directory spelling, computed in slices: there may be 10,000. */
async function spellNames(names: string[]): Promise<Map<string, string>> {
  const spelled = new Map<string, string>();
  for await (const name of slowly(names)) spelled.set(name, spellInDirectory(name));
  return spelled;
}

/** The parts of the rules that decide the roles of a person. */
export interface PersonRules extends Pick<Rules, 'mappings' | 'orgMappings' | 'spelled'> {
  sources: Pick<GroupSource, 'kind' | 'id' | 'autoRemove' | 'searchBase'>[];
}

/** Computes the roles of a person from all of their groups. */
export function planPerson(rules: PersonRules, person: PersonFacts) {
  const groups = heldBy(rules, person);
  const fated = <Row extends { origin: Origin }>({ origin, ...rest }: Row) => {
    return { ...rest, because: causeOf(origin), fate: fateOf(rules, person, origin) };
  };
  const current = person.current.map(fated).toSorted(inOrder(({ projectId }) => projectId));
  const plan: Plan = planMemberships(groups, rules.mappings, current);
  return { plan, orgRole: planOrgRole(groups, rules.orgMappings, fated(person.orgRole)) };
}

/** Compares rows by a text. Sorting here saves the database a sort for each person. */
export function inOrder<Row>(textOf: (row: Row) => string) {
  return (one: Row, other: Row): number => (textOf(one) < textOf(other) ? -1 : 1);
}

/** The person's groups. Groups from a directory are named as in the mappings. */
function heldBy({ sources, spelled }: PersonRules, { claims, scim }: PersonFacts) {
  const spell = (name: string) => spelled.get(name) ?? spellInDirectory(name);
  const claimed = sources.flatMap(({ id: by, searchBase }) => {
    const said = claims.get(by) ?? [];
    const isDirectory = searchBase !== null && said.length > 0;
    const groups = isDirectory ? groupsHeld(spelled.keys(), said, searchBase, spell) : said;
    return groups.map((group): HeldGroup => ({ group, source: 'claim', by }));
  });
  const pushed = scim.flatMap(({ displayName, externalId }) => [displayName, externalId ?? []]);
  return [...claimed, ...pushed.flat().map((group): HeldGroup => ({ group, source: 'scim' }))];
}

function causeOf({ group, mappingId, source, by }: Origin): Because | null {
  if (group === undefined || mappingId === undefined) return null;
  const through = source === 'scim' ? { source } : by === undefined ? {} : { by };
  return { group, mappingId, ...through };
}

/**
 * The fate of a role. A role from a SCIM group ends with the group. For a role from a claim, the
 * connection decides (security I7).
 */
function fateOf({ sources }: PersonRules, { claims }: PersonFacts, { source, by }: Origin): Fate {
  if (source === 'scim') return 'ends';
  // Roles from a removed connection are treated as roles from single sign-on.
  const from =
    sources.find(({ id }) => id === by) ?? sources.find(({ kind }) => kind === assumedKind);
  if (from === undefined) return 'stays';
  if (!claims.has(from.id)) return 'unknown';
  return from.autoRemove ? 'ends' : 'stays';
}

/** Reads members' groups and roles. Omits accounts that are not members. */
export async function readPeople(rules: Rules, accountIds: readonly string[]) {
  return peopleOf(rules, await readMemberRows(rules.organizationId, accountIds));
}

/** Like `readPeople`, and locks the memberships. Lock the accounts first. */
export async function holdPeople(rules: Rules, accountIds: readonly string[]) {
  return peopleOf(rules, await holdMemberRows(rules.organizationId, accountIds));
}

async function peopleOf(
  { organizationId, sources }: Rules,
  members: MemberRow[],
): Promise<Map<string, PersonFacts>> {
  const people = new Map(
    members.map(({ accountId, ...orgRole }): [string, PersonFacts] => {
      return [accountId, { claims: new Map(), scim: [], current: [], orgRole }];
    }),
  );
  const ids = [...people.keys()];
  await addClaims(people, ids, sources);
  await addPushed(people, ids, organizationId);
  await addProjects(people, ids, organizationId);
  return people;
}

async function addClaims(
  people: Map<string, PersonFacts>,
  ids: string[],
  sources: GroupSource[],
): Promise<void> {
  for (const source of sources) {
    const rows = await readKnownGroups(source.id, ids);
    // Disabled connections, and directories without a groups attribute, do not provide groups.
    if (!source.gives) continue;
    for (const { accountId, groups } of rows) people.get(accountId)?.claims.set(source.id, groups);
  }
}

async function addPushed(
  people: Map<string, PersonFacts>,
  ids: string[],
  organizationId: string,
): Promise<void> {
  const rows = await readPushedGroups(organizationId, ids);
  for (const { accountId, ...group } of rows) people.get(accountId)?.scim.push(group);
}

async function addProjects(
  people: Map<string, PersonFacts>,
  ids: string[],
  organizationId: string,
): Promise<void> {
  const rows = await readProjectMembers(organizationId, ids);
  for (const { accountId, ...row } of rows) people.get(accountId)?.current.push(row);
}
