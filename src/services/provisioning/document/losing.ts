import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { connectionKindNames, isConnectionKind } from '../../../connection-kinds.ts';
import type { Origin } from '../../../database/models/membership.ts';
import { countSteps } from '../../../host/queue.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { ldapGroups } from '../../tenancy/connections/ldap.ts';
import { ssoGroups } from '../../tenancy/connections/sso.ts';
import { newMember, type PersonFacts, type PersonRules, planPerson } from '../mappings/facts.ts';
import { spellInDirectory } from '../mappings/plan.ts';
import { assumedKind } from '../mappings/source.ts';
import type { Draft, Losing } from './changes.ts';
import { isLower } from './sections/apply-members.ts';
import type { ProjectMember } from './sections/project-members.ts';
import type { State, Steps } from './sections.ts';
import type { PlanInput } from './wanted.ts';

/** The people who would lose a role in the organization or a project, or a way to sign in. */
export async function findLosing(
  plan: Pick<Draft<Steps>, 'steps' | 'changes'>,
  wanted: PlanInput,
): Promise<Losing[]> {
  const losing: Losing[] = [];
  for (const find of [
    losingRoles,
    losingProjects,
    losingMappings,
    losingOrgRoles,
    losingConnections,
  ]) {
    losing.push(...(await find(plan, wanted)));
    await yieldToEventLoop();
  }
  return losing;
}

function losingRoles({ steps }: Pick<Draft<Steps>, 'steps'>, { state }: PlanInput): Losing[] {
  const emails = emailsOf(state);
  const lowered = steps.members.change.filter(isLower);
  return [
    ...lowered.map(({ accountId, from, role }) => ({ accountId, from, to: role })),
    ...steps.members.remove.map(({ accountId, from }) => ({ accountId, from, to: null })),
  ].map(({ accountId, ...lost }) => ({ email: emails.get(accountId) ?? accountId, ...lost }));
}

function losingProjects({ steps }: Pick<Draft<Steps>, 'steps'>, { state }: PlanInput): Losing[] {
  const emails = emailsOf(state);
  const gone = new Set(steps.members.remove.map(({ accountId }) => accountId));
  const removed = new Set(steps.projects.remove.map(({ slug }) => slug));
  const ended = state.projectMembers.filter(
    ({ accountId, project }) => gone.has(accountId) || removed.has(project),
  );
  const lowered = steps.projectMembers.put.filter(
    ({ from, role }) => from !== null && outranks(from, role),
  );
  return [
    ...ended.map(({ accountId, project, role }) => ({ accountId, project, from: role, to: null })),
    ...steps.projectMembers.remove.map(({ accountId, project, role }) => {
      return { accountId, project, from: role, to: null };
    }),
    ...lowered.map(({ accountId, project, from, role }) => {
      return { accountId, project, from: from ?? role, to: role };
    }),
  ].map(({ accountId, ...lost }) => ({ email: emails.get(accountId) ?? accountId, ...lost }));
}

/**
 * Roles that synced project members lose because mappings are removed. A role from a claim ends at
 * the next sign-in. A role from a SCIM group ends without a sign-in.
 */
async function losingMappings(
  { steps }: Pick<Draft<Steps>, 'steps'>,
  wanted: PlanInput,
): Promise<Losing[]> {
  const { state } = wanted;
  const removed = new Set(steps.mappings.remove.map(({ id }) => id));
  if (removed.size === 0) return [];
  const manual = new Set(
    steps.projectMembers.put.map(({ project, accountId }) => `${project} ${accountId}`),
  );
  const gone = new Set([
    ...steps.projects.remove.map(({ slug }) => slug),
    ...steps.members.remove.map(({ accountId }) => accountId),
  ]);
  const rules = rulesLeft(steps, state);
  const byProject = Map.groupBy(rules.mappings, ({ projectId }) => projectId);
  const losing: Losing[] = [];
  const step = countSteps(maxRulesAtOnce);
  for (const member of state.projectMembers) {
    const { accountId, project, role: from, mappingId } = member;
    if (mappingId === null || !removed.has(mappingId) || gone.has(project) || gone.has(accountId))
      continue;
    if (manual.has(`${project} ${accountId}`)) continue;
    const mappings = byProject.get(project) ?? [];
    const turn = step();
    if (turn !== null) await turn;
    const to = roleAfter({ ...rules, mappings }, member, wanted);
    if (to === null || outranks(from, to))
      losing.push({ email: member.email ?? accountId, project, from, to });
  }
  return losing;
}

/** How many people are compared with up to 10,000 mappings before other work may run. */
const maxRulesAtOnce = 10;

/** Members whose role a removed mapping gave, if their next role is lower. */
async function losingOrgRoles(
  { steps }: Pick<Draft<Steps>, 'steps'>,
  wanted: PlanInput,
): Promise<Losing[]> {
  const { state } = wanted;
  const removed = new Set(steps.mappings.remove.map(({ id }) => id));
  if (removed.size === 0) return [];
  // Roles in projects do not matter here.
  const rules = { ...rulesLeft(steps, state), mappings: [] };
  const edited = new Set(
    [...steps.members.change, ...steps.members.remove].map(({ accountId }) => accountId),
  );
  const losing: Losing[] = [];
  const step = countSteps(maxRulesAtOnce);
  for (const { accountId, email, role, given } of state.members) {
    if (given === null || !removed.has(given.mappingId) || edited.has(accountId)) continue;
    const turn = step();
    if (turn !== null) await turn;
    const facts = factsOf({ accountId, ...given }, wanted);
    const orgRole = { role, synced: true, origin: originOf(given) };
    const to = planPerson(rules, { ...facts, orgRole }).orgRole?.to ?? role;
    if (isLower({ from: role, role: to }))
      losing.push({ email: email ?? accountId, from: role, to });
  }
  return losing;
}

/** The rules without the removed mappings and with the added ones. Slugs stand for project ids. */
function rulesLeft({ mappings: { add, remove } }: Steps, state: State): PersonRules {
  const sources = sourcesOf(state);
  const removed = new Set(remove.map(({ id }) => id));
  const left = [
    ...state.mappings.filter(({ id }) => !removed.has(id)),
    ...add.map((mapping) => ({ ...mapping, id: '' })),
  ];
  const isDirectory = sources.some(({ searchBase }) => searchBase !== null);
  const names = isDirectory ? left.map(({ group }) => group) : [];
  return {
    mappings: left.flatMap(({ id, group, project: projectId, role }) =>
      projectId === undefined || role === undefined ? [] : [{ id, group, projectId, role }],
    ),
    orgMappings: left.flatMap(({ id, group, orgRole }) =>
      orgRole === undefined ? [] : [{ id, group, orgRole }],
    ),
    spelled: new Map(names.map((name) => [name, spellInDirectory(name)])),
    sources,
  };
}

/** The organization's connections as sources of groups. */
function sourcesOf({ sso, ldap }: State) {
  const groups = { sso: sso && ssoGroups(sso), ldap: ldap && ldapGroups(ldap) };
  const ids = { sso: sso?.id, ldap: ldap?.id };
  return connectionKindNames.flatMap((kind) => {
    const [id, rules] = [ids[kind], groups[kind]];
    return id === undefined || rules === null ? [] : [{ kind, id, ...rules }];
  });
}

/** The project role that SCIM groups and the next sign-in would leave; null if they leave none. */
function roleAfter(rules: PersonRules, member: ProjectMember, wanted: PlanInput) {
  const { project: projectId, role } = member;
  const current = [{ projectId, role, synced: true, origin: originOf(member) }];
  const { plan } = planPerson(rules, { ...factsOf(member, wanted), current });
  if (plan.removes.length > 0) return null;
  return plan.changes[0]?.role ?? role;
}

type RoleSource = Pick<ProjectMember, 'accountId' | 'source' | 'by' | 'group'>;

function originOf({ source, by }: Pick<RoleSource, 'source' | 'by'>): Origin {
  const through = source === 'scim' ? { source: 'scim' as const } : by === null ? {} : { by };
  return { kind: assumedKind, ...through };
}

/** The SCIM groups and last known claims; for an unknown claim, the group that gave the role. */
function factsOf(
  { accountId, source, by, group }: RoleSource,
  { state, outside }: PlanInput,
): PersonFacts {
  const claims = new Map<string, readonly string[]>();
  // Like a sign-in, this uses neither a disabled connection nor a directory without a groups
  // attribute.
  for (const { id } of sourcesOf(state).filter(({ gives }) => gives)) {
    const unknown = group === null || source === 'scim' || by !== id ? [] : [group];
    claims.set(id, outside.groups.get(`${id} ${accountId}`) ?? unknown);
  }
  const pushed = outside.pushed.get(accountId) ?? [];
  const scim = pushed.map((displayName) => ({ displayName, externalId: null }));
  return { claims, scim, orgRole: newMember, current: [] };
}

/** The people who can no longer sign in through a connection that is removed or disabled. */
function losingConnections(
  { changes }: Pick<Draft<Steps>, 'changes'>,
  wanted: PlanInput,
): Losing[] {
  const emails = emailsOf(wanted.state);
  return changes.flatMap(({ section, action, fields = [] }) => {
    if (!isConnectionKind(section)) return [];
    if (wanted.state[section]?.enabled !== true) return [];
    const off = fields.some((one) => one.field === 'enabled' && 'to' in one && one.to === false);
    if (action !== 'remove' && !off) return [];
    return wanted.outside.linked[section].flatMap((accountId) => {
      const email = emails.get(accountId);
      return email === undefined ? [] : [{ email, from: section, to: null }];
    });
  });
}

function emailsOf({ members }: State): Map<string, string> {
  return new Map(
    members.flatMap(({ accountId, email }) => (email === null ? [] : [[accountId, email]])),
  );
}
