import { z } from 'zod';
import type { OrgRole } from '../../../../database/models/membership.ts';
import type { ProjectRole } from '../../../../database/models/project.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { projectRole, slug } from '../../../foundation/fields.ts';
import { caps, documentCaps } from '../../../foundation/limits/caps.ts';
import { planMapped } from '../../mappings/replan.ts';
import { type GroupRole, mappedGroup, orgRole, refuseMixed } from '../../mappings/view.ts';
import {
  createMappings,
  dropMappings,
  readStoredMappings,
  requireGrant,
  requireMappingRoom,
} from '../../mappings/write.ts';
import { type Draft, dropSurplus } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import { type Apply, by, listOf, type Read } from '../section.ts';
import { readMappingRows } from '../state.sql.ts';
import { findProjects } from './apply-project-members.ts';
import {
  type ProjectsState,
  type ProjectsSteps,
  projectsAfter,
  surplusProjects,
} from './projects.ts';

const mapping = z
  .strictObject({
    group: mappedGroup,
    project: slug.optional(),
    role: projectRole.optional(),
    orgRole: orgRole.optional(),
  })
  .superRefine(refuseMixed);
const input = listOf(
  mapping,
  nameOf,
  'Groups and the roles that they give.',
  documentCaps.mappings,
).optional();

const exported = z.array(
  z.object({
    group: z.string(),
    project: z.string().optional(),
    role: projectRole.optional(),
    orgRole: orgRole.optional(),
  }),
);

/** Identifies a mapping in a plan. Project slugs and roles do not contain a slash. */
function nameOf({ group, project, role, orgRole }: z.output<typeof mapping>): string {
  return orgRole === undefined ? `${project}/${role}/${group}` : `organization/${orgRole}/${group}`;
}

type StoredMapping = { id: string; group: string } & (
  | { project: string; role: ProjectRole; orgRole?: undefined }
  | { orgRole: OrgRole; project?: undefined; role?: undefined }
);

interface MappingsState {
  mappings: StoredMapping[];
}

interface MappingsSteps {
  mappings: { add: z.output<typeof mapping>[]; remove: StoredMapping[] };
}

const read: Read<StoredMapping[]> = async (_ctx, { id }) => {
  const rows = await readMappingRows(id);
  return rows.flatMap(({ id, group, project, role, orgRole }): StoredMapping[] => {
    if (orgRole !== null) return [{ id, group, orgRole }];
    return project === null || role === null ? [] : [{ id, group, project, role }];
  });
};

type MappingsWanted = Wanted<
  ProjectsState & MappingsState,
  { projects?: { slug: string }[] | undefined; mappings?: z.output<typeof input> }
>;

function plan(draft: Draft<ProjectsSteps>, wanted: MappingsWanted): MappingsSteps['mappings'] {
  const { state, document, prune } = wanted;
  const add: MappingsSteps['mappings']['add'] = [];
  const known = projectsAfter(draft, wanted);
  const there = new Map(state.mappings.map((mapping) => [nameOf(mapping), mapping]));
  for (const [at, mapping] of (document.mappings ?? []).entries()) {
    const key = nameOf(mapping);
    if (mapping.project !== undefined && !known.has(mapping.project)) {
      const message = `there is no project ${mapping.project}`;
      draft.faults.push({ path: `mappings.${at}.project`, message });
    } else if (!there.has(key)) {
      draft.changes.push({ section: 'mappings', action: 'add', key });
      add.push(mapping);
    }
  }
  const gone = new Set(draft.steps.projects.remove.map(({ slug }) => slug));
  const surplus = surplusMappings(state, document.mappings, gone);
  return { add, remove: dropSurplus(draft, 'mappings', surplus, { prune, keyOf: nameOf }) };
}

/**
 * The stored mappings that the document omits. Those of removed projects are surplus too, even if
 * the document has no `mappings`.
 */
function surplusMappings(
  { mappings: stored }: MappingsState,
  mappings: z.output<typeof input>,
  gone: ReadonlySet<string>,
): StoredMapping[] {
  const listed = mappings && new Set(mappings.map(nameOf));
  const isLost = ({ project }: StoredMapping) => project !== undefined && gone.has(project);
  const isUnlisted = (one: StoredMapping) => listed?.has(nameOf(one)) === false;
  return [...stored.filter(isLost), ...stored.filter((one) => !isLost(one) && isUnlisted(one))];
}

/** The stored mappings that an apply with `prune` removes, and all that exist after it. */
export function pruneMappings({ state, document }: Pick<MappingsWanted, 'state' | 'document'>) {
  const gone = new Set(surplusProjects(state, document.projects).map(({ slug }) => slug));
  const removed = new Set(surplusMappings(state, document.mappings, gone));
  const kept = state.mappings.filter((mapping) => !removed.has(mapping));
  return { removed: [...removed], left: [...kept, ...(document.mappings ?? [])] };
}

const apply: Apply<MappingsSteps> = async (ctx, organization, { mappings }) => {
  const { add, remove } = mappings;
  if (add.length + remove.length === 0) return;
  await requireAuthority(ctx, 'mappings.change', organization.id);
  await requireGrant(ctx, organization.id, add);
  if (remove.length > 0) {
    const gone = new Set(remove.map(({ id }) => id));
    const stored = await readStoredMappings(organization.id);
    await dropMappings(
      ctx,
      organization,
      stored.filter(({ id }) => gone.has(id)),
    );
  }
  await requireMappingRoom(organization, add.length);
  const projectOf = await findProjects(organization.id);
  const added = add.flatMap(({ group, project, role, orgRole }): GroupRole[] => {
    if (orgRole !== undefined) return [{ group, orgRole }];
    // Without `orgRole`, the schema requires `project` and `role`.
    if (project === undefined || role === undefined) return [];
    return [{ group, project: projectOf(project), role }];
  });
  await createMappings(ctx, organization, added);
  await planMapped(ctx, organization.id, [...add, ...remove], true);
};

/** The section with the group mappings. */
export const mappings = {
  input,
  exported,
  read,
  plan,
  apply,
  view: ({ mappings }: MappingsState) =>
    mappings.map(({ id: _, ...mapping }) => mapping).toSorted(by(nameOf)),
  cap: {
    max: caps.mappings.max,
    count: ({ mappings }: MappingsState) => mappings.length,
    removesFirst: true,
  },
};
