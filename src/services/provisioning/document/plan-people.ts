import type { Role } from '../../../database/models/membership.ts';
import { Refusal } from '../../../errors.ts';
import { differences, dropSurplus, type PlanDraft } from './changes.ts';
import { type Document, nameOfMapping } from './schema.ts';
import { isAutomatic, type Member, type State, type StoredMapping } from './state.ts';
import type { PlanInput } from './wanted.ts';

// Plans members, projects with their members, and mappings.

/** The functions that plan the sections about people and their roles, in this order. */
export const peopleParts = [planMembers, planProjects, planProjectMembers, planMappings];

function planMembers(
  draft: PlanDraft,
  { state, document: { members }, outside, prune }: PlanInput,
): void {
  if (members === undefined) return;
  const here = peopleOf(state.members);
  const listed = new Set<string>();
  for (const { email, role } of members) {
    const person = outside.people.get(email);
    const member = here.byEmail.get(email) ?? here.byId.get(idIn(person));
    if (member !== undefined) {
      listed.add(member.accountId);
      const uninvited = role === 'owner' ? outside.uninvited.get(email) : undefined;
      if (uninvited !== undefined)
        draft.blocked.push({ section: 'members', key: email, ...uninvited });
      else if (member.role !== role) changeRole(draft, { email, member, role });
    } else if (person === undefined || 'code' in person) {
      if (person !== undefined) draft.blocked.push({ section: 'members', key: email, ...person });
    } else {
      listed.add(person.accountId);
      const fields = [{ field: 'role', from: null, to: role }];
      draft.changes.push({ section: 'members', action: 'add', key: email, fields });
      draft.steps.addMembers.push({ accountId: person.accountId, email, role });
    }
  }
  const surplus = state.members.flatMap((member) =>
    isAutomatic(member) || listed.has(member.accountId) || member.email === null
      ? []
      : [{ ...member, email: member.email }],
  );
  const dropped = dropSurplus(draft, 'members', surplus, {
    prune,
    keyOf: ({ email }) => email,
    fieldsOf: ({ role }) => [{ field: 'role', from: role, to: null }],
  });
  for (const { accountId, role } of dropped)
    draft.steps.removeMembers.push({ accountId, from: role });
  requireOwner(draft, state.members, state.organization.slug);
}

function changeRole(
  draft: PlanDraft,
  { email, member, role }: { email: string; member: Member; role: Role },
): void {
  const fields = [{ field: 'role', from: member.role, to: role }];
  draft.changes.push({ section: 'members', action: 'change', key: email, fields });
  draft.steps.changeMembers.push({ accountId: member.accountId, from: member.role, role });
}

/** Refuses a plan that removes the last owner, as the commands for one member do. */
function requireOwner({ steps }: PlanDraft, members: Member[], slug: string): void {
  const owners = new Set(
    members.filter(({ role }) => role === 'owner').map(({ accountId }) => accountId),
  );
  if (owners.size === 0) return;
  for (const { accountId, role } of [...steps.changeMembers, ...steps.addMembers]) {
    if (role === 'owner') owners.add(accountId);
    else owners.delete(accountId);
  }
  for (const { accountId } of steps.removeMembers) owners.delete(accountId);
  if (owners.size > 0) return;
  throw new Refusal('last_owner', `${slug} would be left without an owner.`, {
    hint: { technical: 'Keep an owner in `members`, or make another member an owner first.' },
  });
}

function planProjects(draft: PlanDraft, { state, document: { projects }, prune }: PlanInput): void {
  if (projects === undefined) return;
  const there = new Map(state.projects.map((project) => [project.slug, project]));
  for (const { slug, name } of projects) {
    const stored = there.get(slug);
    const fields = differences({ name: stored?.name }, { name });
    if (fields.length === 0) continue;
    const action = stored === undefined ? 'add' : 'change';
    draft.changes.push({ section: 'projects', action, key: slug, fields });
    if (stored === undefined) draft.steps.addProjects.push({ slug, name });
    else draft.steps.renameProjects.push({ ...stored, name });
  }
  const surplus = surplusProjects(state, projects);
  draft.steps.removeProjects = dropSurplus(draft, 'projects', surplus, {
    prune,
    keyOf: ({ slug }) => slug,
  });
}

function surplusProjects({ projects: stored }: State, projects: Document['projects']) {
  if (projects === undefined) return [];
  const listed = new Set(projects.map(({ slug }) => slug));
  return stored.filter(({ slug }) => !listed.has(slug));
}

function planProjectMembers(draft: PlanDraft, wanted: PlanInput): void {
  const { state, document, outside } = wanted;
  const gone = new Set(draft.steps.removeMembers.map(({ accountId }) => accountId));
  const joining = new Set(draft.steps.addMembers.map(({ accountId }) => accountId));
  const here = peopleOf(state.members);
  /** The account of a member, including one that the same document adds. */
  const memberOf = (email: string): string | null => {
    const other = idIn(outside.people.get(email));
    const id = (here.byEmail.get(email) ?? here.byId.get(other))?.accountId ?? other;
    const isMember = joining.has(id) || (here.byId.has(id) && !gone.has(id));
    return isMember ? id : null;
  };
  const inProject = Map.groupBy(state.projectMembers, ({ project }) => project);
  for (const { slug: project, members } of document.projects ?? []) {
    if (members === undefined) continue;
    const there = new Map((inProject.get(project) ?? []).map((one) => [one.accountId, one]));
    const listed = new Set<string>();
    for (const { email, role } of members) {
      const key = `${project}/${email}`;
      const accountId = memberOf(email);
      if (accountId === null) {
        draft.blocked.push({ section: 'projects', key, ...stranger(wanted, email) });
        continue;
      }
      listed.add(accountId);
      const stored = there.get(accountId);
      const from = stored?.role ?? null;
      const wasSynced = stored?.synced ?? false;
      const fields = differences({ role: from }, { role });
      if (wasSynced) fields.push({ field: 'synced', from: true, to: false });
      if (fields.length === 0) continue;
      const action = stored === undefined ? 'add' : 'change';
      draft.changes.push({ section: 'projects', action, key, fields });
      draft.steps.putProjectMembers.push({ project, accountId, role, from, wasSynced });
    }
    const surplus = [...there.values()].filter(
      ({ accountId, email, synced }) =>
        email !== null && !synced && !listed.has(accountId) && !gone.has(accountId),
    );
    const dropped = dropSurplus(draft, 'projects', surplus, {
      prune: wanted.prune,
      keyOf: ({ email, accountId }) => `${project}/${email ?? accountId}`,
      fieldsOf: ({ role }) => [{ field: 'role', from: role, to: null }],
    });
    for (const { accountId, role } of dropped) {
      const step = { project, accountId, role, from: role, wasSynced: false };
      draft.steps.removeProjectMembers.push(step);
    }
  }
}

function stranger({ state: { organization } }: PlanInput, email: string) {
  return {
    code: 'not_found' as const,
    message: `${email} is not a member of ${organization.slug}.`,
    hint: { technical: 'Add the person to `members`, or invite them, and apply again.' },
  };
}

function planMappings(draft: PlanDraft, { state, document, prune }: PlanInput): void {
  const { mappings } = document;
  const gone = new Set(draft.steps.removeProjects.map(({ slug }) => slug));
  const known = new Set([
    ...state.projects.map(({ slug }) => slug).filter((slug) => !gone.has(slug)),
    ...(document.projects ?? []).map(({ slug }) => slug),
  ]);
  const there = new Map(state.mappings.map((mapping) => [nameOfMapping(mapping), mapping]));
  for (const [at, mapping] of (mappings ?? []).entries()) {
    const key = nameOfMapping(mapping);
    if (mapping.project !== undefined && !known.has(mapping.project)) {
      const message = `there is no project ${mapping.project}`;
      draft.faults.push({ path: `mappings.${at}.project`, message });
    } else if (!there.has(key)) {
      draft.changes.push({ section: 'mappings', action: 'add', key });
      draft.steps.addMappings.push(mapping);
    }
  }
  const surplus = surplusMappings(state, mappings, gone);
  draft.steps.removeMappings = dropSurplus(draft, 'mappings', surplus, {
    prune,
    keyOf: nameOfMapping,
  });
}

/**
 * The stored mappings that the document omits. Those of removed projects are surplus too, even if
 * the document has no `mappings`.
 */
function surplusMappings(
  { mappings: stored }: State,
  mappings: Document['mappings'],
  gone: ReadonlySet<string>,
): StoredMapping[] {
  const listed = mappings && new Set(mappings.map(nameOfMapping));
  const isLost = ({ project }: StoredMapping) => project !== undefined && gone.has(project);
  const isUnlisted = (one: StoredMapping) => listed?.has(nameOfMapping(one)) === false;
  return [...stored.filter(isLost), ...stored.filter((one) => !isLost(one) && isUnlisted(one))];
}

/** The stored mappings that an apply with `prune` removes, and all that exist after it. */
export function pruneMappings({ state, document }: Pick<PlanInput, 'state' | 'document'>) {
  const gone = new Set(surplusProjects(state, document.projects).map(({ slug }) => slug));
  const removed = new Set(surplusMappings(state, document.mappings, gone));
  const kept = state.mappings.filter((mapping) => !removed.has(mapping));
  return { removed: [...removed], left: [...kept, ...(document.mappings ?? [])] };
}

function peopleOf(members: Member[]) {
  return {
    byEmail: new Map(members.map((member) => [member.email, member])),
    byId: new Map(members.map((member) => [member.accountId, member])),
  };
}

function idIn(
  person: PlanInput['outside']['people'] extends Map<string, infer P> ? P | undefined : never,
) {
  return person !== undefined && 'accountId' in person ? person.accountId : '';
}
