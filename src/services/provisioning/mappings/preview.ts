import { Op } from 'sequelize';
import { z } from 'zod';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { Membership } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SsoAttempt } from '../../../database/models/sso-attempt.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { id, isUuid, projectRole, ref, role, userRef } from '../../foundation/fields.ts';
import { list } from '../../foundation/list.ts';
import { operation } from '../../foundation/operation.ts';
import { findKeptGroups } from '../../tenancy/scim-records/record.sql.ts';
import {
  inOrder,
  newMember,
  type PersonFacts,
  planPerson,
  type Rules,
  readPeople,
  readRules,
} from './facts.ts';
import { readProjects } from './mappings.sql.ts';
import type { Because } from './plan.ts';
import { assumedKind, type GroupSource, ssoSource } from './source.ts';
import { deactivated, groupsUnknown, neverSaid } from './unknown.ts';
import { groupName, groupSource, orgRole, projectOfMapping } from './view.ts';

const because = z
  .object({ group: z.string(), mapping: id, source: groupSource })
  .nullable()
  .describe('The group and its mapping. For a removal, those that gave the membership.');
const entry = { project: projectOfMapping, role: projectRole, because };

/** The effect of a sign-in: the same plan that the sign-in would apply. */
export const previewView = z.object({
  adds: z.array(z.object(entry)),
  changes: z.array(z.object({ ...entry, from: projectRole, to: projectRole })),
  removes: z.array(z.object(entry)),
  orgRole: z
    .object({ from: role, to: orgRole, because })
    .nullable()
    .describe('The change of the role in the organization, if any.'),
  groups: z
    .array(z.object({ group: z.string(), source: groupSource }))
    .describe('The groups that the plan uses: from the claim and from SCIM.'),
});

/**
 * Shows what a person's next sign-in would do to their memberships (spec §4.1), without writing.
 * Uses the given groups, else the groups of the attempt, else of the person's last sign-in, and
 * adds SCIM groups. Treats a non-member as a new member. Refuses with `groups_unknown` if no groups
 * are known.
 */
export const previewMappings = operation({
  authority: 'mappings.see',
  turn: 'computing',
  input: z.strictObject({
    org: ref,
    user: userRef.optional(),
    groups: list(groupName, 1000).optional(),
    attempt: id.optional().describe('A sign-in attempt, by its id or its reference.'),
  }),
  output: previewView,
  run: async (_ctx, input, { organization }) => {
    const attempt =
      input.attempt === undefined ? null : await requireAttempt(organization, input.attempt);
    const user = input.user ?? attempt?.email;
    if (!user)
      throw refuseField('user', 'is required', 'Name the account, by e-mail address or id.');
    const accountId = await findMember(organization, user);
    const rules = await readRules(organization.id);
    const person = await readPerson(rules, accountId);
    const last = await lastSaid(rules.sources, accountId);
    const [first = nowhere(organization)] = rules.sources;
    const source =
      attempt?.source ?? (input.groups === undefined ? last?.source : undefined) ?? first;
    const said = input.groups ?? (attempt ?? last)?.groups ?? null;
    if (said === null && person.scim.length === 0) {
      const kept = accountId === null ? await findKeptGroups(organization.id, user) : null;
      if (kept !== null) throw deactivated(organization, user, kept);
      if (attempt !== null) throw groupsUnknown('The groups of the attempt are not known.');
      throw neverSaid(organization, user, { rules, everSignedIn: last !== null });
    }
    if (input.groups !== undefined) person.claims.clear();
    if (said === null) person.claims.delete(source.id);
    else person.claims.set(source.id, said);
    if (!rules.sources.some(({ id }) => id === source.id)) rules.sources.push(source);
    return viewPlan(organization, planPerson(rules, person), person);
  },
});

/**
 * The effect of the member's next sign-in, if the connection sends the same groups as last time.
 * Null if those are unknown and SCIM pushed none.
 */
export async function previewNext(organization: Organization, accountId: string) {
  const rules = await readRules(organization.id);
  const person = await readPerson(rules, accountId);
  const last = await lastSaid(rules.sources, accountId);
  if (last === null || last.groups === null) {
    return person.scim.length === 0
      ? null
      : viewPlan(organization, planPerson(rules, person), person);
  }
  // This connection syncs groups only at a person's first sign-in.
  if (!last.source.everyTime) return viewPlan(organization, nothingPlanned, person);
  person.claims.set(last.source.id, last.groups);
  return viewPlan(organization, planPerson(rules, person), person);
}

async function readPerson(rules: Rules, accountId: string | null): Promise<PersonFacts> {
  const people = await readPeople(rules, accountId === null ? [] : [accountId]);
  const none: PersonFacts = { claims: new Map(), scim: [], current: [], orgRole: newMember };
  return people.get(accountId ?? '') ?? none;
}

/** Groups as a connection sent them; null if they were unknown. */
interface Said {
  source: GroupSource;
  groups: string[] | null;
}

/** Stands in for a connection in an organization without one, to preview given groups. */
function nowhere({ id: organizationId }: Organization): GroupSource {
  const none = { gives: true, autoRemove: false, everyTime: true, searchBase: null };
  return { kind: assumedKind, id: '', organizationId, ...none };
}

async function requireAttempt(
  { id: organizationId }: Organization,
  named: string,
): Promise<Said & Pick<SsoAttempt, 'email'>> {
  const connection = await SsoConnection.findOne({ where: { organizationId } });
  // `named` is an id, or the reference that a refused person saw.
  const either = { [Op.or]: [{ id: named }, { reference: named }] };
  const attempt =
    connection && (await SsoAttempt.findOne({ where: { connectionId: connection.id, ...either } }));
  if (connection === null || attempt === null) {
    throw new Refusal('not_found', `There is no sign-in attempt ${named}.`, {
      hint: { to: 'list the last attempts', operation: 'sso.attempts' },
    });
  }
  const none = !attempt.groupsMalformed && connection.absentGroups === 'none' ? [] : null;
  return { source: ssoSource(connection), groups: attempt.groups ?? none, email: attempt.email };
}

/** The id of the member. Null for a non-member, whose account must not be revealed. */
async function findMember(organization: Organization, user: string): Promise<string | null> {
  const membership = await Membership.findOne({
    where: { organizationId: organization.id },
    include: {
      model: Account,
      as: 'account',
      required: true,
      where: isUuid(user) ? { id: user } : { email: user },
    },
  });
  return membership?.accountId ?? null;
}

/** The groups of the person's last sign-in through any connection; null before the first. */
async function lastSaid(sources: GroupSource[], accountId: string | null): Promise<Said | null> {
  if (accountId === null) return null;
  const identities = await Identity.findAll({
    where: { connectionId: sources.map(({ id }) => id), accountId },
    order: [['groupsSyncedAt', 'ASC']],
  });
  const identity =
    identities.findLast(({ groupsSyncedAt }) => groupsSyncedAt !== null) ?? identities.at(-1);
  const source = sources.find(({ id }) => id === identity?.connectionId);
  return identity === undefined || source === undefined
    ? null
    : { source, groups: identity.lastGroups };
}

type Planned = ReturnType<typeof planPerson>;

const nothingPlanned: Planned = {
  plan: { adds: [], changes: [], removes: [], moves: [] },
  orgRole: null,
};

async function viewPlan(
  organization: Organization,
  { plan, orgRole }: Planned,
  person: PersonFacts,
) {
  const projects = await readProjects(organization.id);
  const byId = new Map(projects.map((project) => [project.id, project]));
  const view = <Entry extends { projectId: string; because: Because | null }>({
    projectId,
    because,
    ...rest
  }: Entry) => ({
    project: byId.get(projectId) ?? { id: projectId, slug: projectId },
    ...rest,
    because: viewCause(because),
  });
  const changed = orgRole !== null && orgRole.from !== orgRole.to;
  return {
    adds: plan.adds.map(view),
    changes: plan.changes.map((change) => ({ ...view(change), to: change.role })),
    removes: plan.removes.map(view),
    orgRole: changed ? { ...orgRole, because: viewCause(orgRole.because) } : null,
    groups: groupsOf(person),
  };
}

function viewCause(because: Because | null) {
  if (because === null) return null;
  const { group, mappingId: mapping, source = 'claim' as const } = because;
  return { group, mapping, source };
}

function groupsOf({ claims, scim }: PersonFacts) {
  const claimed = new Set([...claims.values()].flat());
  return [
    ...[...claimed].map((group) => ({ group, source: 'claim' as const })),
    ...scim
      .map(({ displayName: group }) => ({ group, source: 'scim' as const }))
      .toSorted(inOrder(({ group }) => group)),
  ];
}
