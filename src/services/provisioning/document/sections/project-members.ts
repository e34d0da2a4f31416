import { z } from 'zod';
import { inSlices } from '../../../../host/queue.ts';
import { email, projectRole } from '../../../foundation/fields.ts';
import { type Draft, differences, dropSurplus } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import { listOf, type Read } from '../section.ts';
import { type ProjectMemberRow, readProjectMemberRows, type StoredProject } from '../state.sql.ts';
import type { MembersSteps } from './apply-members.ts';
import {
  applyProjectMembers,
  type ProjectMembersSteps,
  type ProjectStep,
} from './apply-project-members.ts';
import { idIn, type MembersState, peopleOf } from './members.ts';
import type { OrganizationState } from './organization.ts';

/** The members of a project in a document. */
export const projectMembersInput = listOf(
  z.strictObject({ email, role: projectRole }),
  (entry) => entry.email,
  'The members that were added manually.',
).optional();

type Listed = z.output<typeof projectMembersInput>;

/** A member of a project. For a synced one, the row names what gave it. */
export interface ProjectMember extends Omit<ProjectMemberRow, 'projectId'> {
  email: string | null;
  project: string;
}

/** The part of the state with the members of projects. */
export interface ProjectMembersState {
  projectMembers: ProjectMember[];
}

type Before = MembersState & { projects: StoredProject[] };

/** Reads the members of some projects at a time, and many of one project in parts. */
const read: Read<ProjectMember[], Before> = async (_ctx, _organization, before) => {
  const { projects, members } = before;
  const slugs = new Map(projects.map(({ id, slug }) => [id, slug]));
  const emails = new Map(members.map(({ accountId, email }) => [accountId, email]));
  const found: ProjectMember[] = [];
  await inSlices(
    projects.map(({ id }) => id).toSorted(),
    async (ids) => {
      for (const { projectId, ...row } of await readProjectMemberRows(ids)) {
        const project = slugs.get(projectId) ?? projectId;
        found.push({ ...row, project, email: emails.get(row.accountId) ?? null });
      }
    },
    100,
  );
  return found;
};

type ProjectMembersWanted = Wanted<
  OrganizationState & MembersState & ProjectMembersState,
  { projects?: { slug: string; members?: Listed }[] | undefined }
>;

function plan(draft: Draft<MembersSteps>, wanted: ProjectMembersWanted) {
  const steps: ProjectMembersSteps['projectMembers'] = { put: [], remove: [] };
  const gone = new Set(draft.steps.members.remove.map(({ accountId }) => accountId));
  const memberOf = memberAfter(draft, wanted, gone);
  const inProject = Map.groupBy(wanted.state.projectMembers, ({ project }) => project);
  for (const { slug: project, members } of wanted.document.projects ?? []) {
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
      steps.put.push({ project, accountId, role, from, wasSynced });
    }
    const surplus = [...there.values()].filter(
      ({ accountId, email, synced }) =>
        email !== null && !synced && !listed.has(accountId) && !gone.has(accountId),
    );
    for (const step of dropMembers(draft, wanted, project, surplus)) steps.remove.push(step);
  }
  return steps;
}

/** Finds the account of a member, including one that the same document adds. */
function memberAfter(
  { steps }: Draft<MembersSteps>,
  { state, outside }: ProjectMembersWanted,
  gone: ReadonlySet<string>,
) {
  const joining = new Set(steps.members.add.map(({ accountId }) => accountId));
  const here = peopleOf(state.members);
  return (email: string): string | null => {
    const other = idIn(outside.people.get(email));
    const id = (here.byEmail.get(email) ?? here.byId.get(other))?.accountId ?? other;
    const isMember = joining.has(id) || (here.byId.has(id) && !gone.has(id));
    return isMember ? id : null;
  };
}

function stranger({ state: { organization } }: ProjectMembersWanted, email: string) {
  return {
    code: 'not_found' as const,
    message: `${email} is not a member of ${organization.slug}.`,
    hint: { technical: 'Add the person to `members`, or invite them, and apply again.' },
  };
}

function dropMembers(
  draft: Draft,
  { prune }: ProjectMembersWanted,
  project: string,
  surplus: ProjectMember[],
): ProjectStep[] {
  const dropped = dropSurplus(draft, 'projects', surplus, {
    prune,
    keyOf: ({ email, accountId }) => `${project}/${email ?? accountId}`,
    fieldsOf: ({ role }) => [{ field: 'role', from: role, to: null }],
  });
  return dropped.map(({ accountId, role }) => {
    return { project, accountId, role, from: role, wasSynced: false };
  });
}

/** The members of the projects. They are read and planned after the members and the projects. */
export const projectMembers = { read, plan, apply: applyProjectMembers };
