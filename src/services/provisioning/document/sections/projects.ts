import { z } from 'zod';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { name, projectRole, slug } from '../../../foundation/fields.ts';
import { caps } from '../../../foundation/limits/caps.ts';
import {
  createProjects,
  deleteProject,
  renameProject,
} from '../../../tenancy/projects/operations.ts';
import { type Draft, differences, dropSurplus } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import { type Apply, by, listOf, named, type Read } from '../section.ts';
import { readProjects, type StoredProject } from '../state.sql.ts';
import { type ProjectMembersState, projectMembersInput } from './project-members.ts';

/** More than an organization can add: projects above the cap stay (security O15). */
const maxProjects = 100_000;

const input = listOf(
  z.strictObject({ slug, name, members: projectMembersInput }),
  (entry) => entry.slug,
  'The projects, by slug.',
  maxProjects,
).optional();

const exported = z.array(
  z.object({
    slug: z.string(),
    name: z.string(),
    members: z.array(z.object({ email: z.string(), role: projectRole })),
  }),
);

/** The part of the state with the projects. */
export interface ProjectsState {
  projects: StoredProject[];
}

/** The part of the steps with the projects. */
export interface ProjectsSteps {
  projects: {
    add: { slug: string; name: string }[];
    rename: StoredProject[];
    remove: StoredProject[];
  };
}

type ProjectsWanted = Wanted<ProjectsState, { projects?: z.output<typeof input> }>;

const read: Read<StoredProject[]> = (_ctx, { id }) => readProjects(id);

function plan(draft: Draft, { state, document, prune }: ProjectsWanted): ProjectsSteps['projects'] {
  const { projects } = document;
  const steps: ProjectsSteps['projects'] = { add: [], rename: [], remove: [] };
  if (projects === undefined) return steps;
  const there = new Map(state.projects.map((project) => [project.slug, project]));
  for (const { slug, name } of projects) {
    const stored = there.get(slug);
    const fields = differences({ name: stored?.name }, { name });
    if (fields.length === 0) continue;
    const action = stored === undefined ? 'add' : 'change';
    draft.changes.push({ section: 'projects', action, key: slug, fields });
    if (stored === undefined) steps.add.push({ slug, name });
    else steps.rename.push({ ...stored, name });
  }
  const surplus = surplusProjects(state, projects);
  steps.remove = dropSurplus(draft, 'projects', surplus, { prune, keyOf: ({ slug }) => slug });
  return steps;
}

/** The stored projects that the document omits. */
export function surplusProjects(
  { projects: stored }: ProjectsState,
  projects: { slug: string }[] | undefined,
): StoredProject[] {
  if (projects === undefined) return [];
  const listed = new Set(projects.map(({ slug }) => slug));
  return stored.filter(({ slug }) => !listed.has(slug));
}

/** The slugs of the projects that exist once the plan is applied. */
export function projectsAfter(
  { steps }: Draft<ProjectsSteps>,
  {
    state,
    document,
  }: Pick<
    Wanted<ProjectsState, { projects?: { slug: string }[] | undefined }>,
    'state' | 'document'
  >,
): Set<string> {
  const gone = new Set(steps.projects.remove.map(({ slug }) => slug));
  const left = state.projects.filter(({ slug }) => !gone.has(slug));
  return new Set([...left, ...(document.projects ?? [])].map(({ slug }) => slug));
}

const add: Apply<ProjectsSteps> = async (ctx, organization, { projects }) => {
  const { add, rename } = projects;
  const org = organization.id;
  if (add.length > 0) {
    await requireAuthority(ctx, 'projects.change', org);
    await createProjects(ctx, organization, add);
  }
  for (const { id: project, name } of rename) await renameProject(ctx, { org, project, name });
};

const remove: Apply<ProjectsSteps> = async (ctx, { id: org }, { projects }) => {
  for (const { id: project } of projects.remove) await deleteProject(ctx, { org, project });
};

function view({ projects, projectMembers }: ProjectsState & ProjectMembersState) {
  const manual = projectMembers.filter(({ synced }) => !synced);
  const members = Map.groupBy(manual, ({ project }) => project);
  return projects
    .map(({ slug, name }) => ({ slug, name, members: named(members.get(slug) ?? []) }))
    .toSorted(by(({ slug }) => slug));
}

/** The section with the projects. Their members are planned and written separately. */
export const projects = {
  input,
  exported,
  read,
  plan,
  add,
  remove,
  view,
  cap: {
    max: caps.projects.max,
    count: ({ projects }: ProjectsState) => projects.length,
    removesFirst: false,
  },
};
