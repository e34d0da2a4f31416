import { z } from 'zod';
import { hold } from '../../../database/hold.ts';
import { GroupMapping } from '../../../database/models/group-mapping.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { Project } from '../../../database/models/project.ts';
import { transaction } from '../../../database/transaction.ts';
import { moreWords, Refusal, refuseFaults } from '../../../errors.ts';
import { slowly } from '../../../host/queue.ts';
import { requireAuthorityOver } from '../../foundation/authority/over.ts';
import { requireAuthority, requireProject } from '../../foundation/authority/require.ts';
import { id, ref } from '../../foundation/fields.ts';
import { caps } from '../../foundation/limits/caps.ts';
import { list } from '../../foundation/list.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import { findGroupsLike } from './mappings.sql.ts';
import { planMapped } from './replan.ts';
import {
  type GroupRole,
  importedView,
  mappingInput,
  mappingRemovedView,
  mappingView,
  newMappingView,
  refuseMixed,
  roleOf,
  viewMapping,
} from './view.ts';
import { rolesFrom, toldMapping } from './words.ts';
import {
  createMappings,
  dropMappings,
  readStoredMappings,
  requireGrant,
  requireMapping,
  requireMappingRoom,
} from './write.ts';

// Maps groups to roles in projects (spec §2.3) and in the organization.

/** Lists the organization's group mappings. */
export const listMappings = operation({
  authority: 'mappings.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(mappingView),
  run: (_ctx, input, { organization }) =>
    readRows(
      GroupMapping,
      { where: { organizationId: organization.id }, include: ['project'] },
      input,
      (row) => viewMapping({ id: row.id, ...roleOf(row) }),
    ),
});

/**
 * Maps a group to a role in a project or in the organization. Members of a SCIM group get the role
 * without a sign-in, others at their next sign-in.
 */
export const addMapping = operation({
  authority: 'mappings.change',
  input: z.strictObject({ org: ref, ...mappingInput }).superRefine(refuseMixed),
  output: newMappingView,
  run: async (ctx, input, { organization }) => {
    await requireGrant(ctx, input.org, [input]);
    const scimGroup = await findPushed(organization.id, input.group);
    return transaction(async () => {
      await requireMappingRoom(organization, 1);
      const given = await requireTarget(organization, input);
      const [made] = await createMappings(ctx, organization, [given]);
      await planMapped(ctx, organization.id, [made]);
      return { ...made, scimGroup };
    });
  },
});

/** `group`, if it names a SCIM group exactly. Else a SCIM group's name in another case, or null. */
async function findPushed(organizationId: string, group: string): Promise<string | null> {
  const rows = await findGroupsLike(organizationId, group);
  const isSame = rows.some(({ name, externalId }) => name === group || externalId === group);
  return isSame ? group : (rows[0]?.name ?? null);
}

type MappingInput = z.output<z.ZodObject<typeof mappingInput>>;

/** The role that the input gives, with its project. `refuseMixed` has checked the fields. */
export async function requireTarget(
  organization: Organization,
  given: MappingInput,
  find = (project: string) => requireProject(organization, project),
): Promise<GroupRole> {
  const { group, orgRole, project, role } = given;
  if (orgRole !== undefined) return { group, orgRole };
  if (project === undefined || role === undefined)
    throw new Error('the input does not give a role');
  return { group, project: await find(project), role };
}

/** Finds each project of the organization only once. */
function findingOnce(organization: Organization): (project: string) => Promise<Project> {
  const found = new Map<string, Promise<Project>>();
  return (project) => {
    const finding = found.get(project) ?? requireProject(organization, project);
    found.set(project, finding);
    return finding;
  };
}

/**
 * Removes a mapping and lists the roles that it gave. Roles from a SCIM group end without a
 * sign-in. Others last until the person signs in again, and then end only if the connection has
 * `autoRemove`. The organization is optional.
 */
export const removeMapping = operation({
  authority: 'mappings.change',
  prove: async (ctx, { org, id: which }) => {
    if (org !== undefined) return requireAuthority(ctx, 'mappings.change', org);
    const { organizationId } = (await GroupMapping.findByPk(which)) ?? {};
    const missing = new Refusal('not_found', `There is no mapping ${which}.`, {
      hint: { to: 'list them', operation: 'mappings.list' },
    });
    return requireAuthorityOver(ctx, 'mappings.change', organizationId, missing);
  },
  input: z.strictObject({ org: ref.optional(), id }),
  output: mappingRemovedView,
  ends: {
    ask: (view) => `Remove the mapping of ${toldMapping(view)}?`,
    effects: rolesFrom,
    done: (view) => [`Removed the mapping of ${toldMapping(view)}.`, ...rolesFrom(view)],
  },
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      await hold.mappings(organization.id, 'alone');
      const mapping = await requireMapping(organization, input.id);
      const given = { id: mapping.id, ...roleOf(mapping) };
      const [removed] = await dropMappings(ctx, organization, [given]);
      await planMapped(ctx, organization.id, [mapping]);
      return removed;
    }),
});

const importInput = z.strictObject({
  org: ref,
  mappings: list(z.strictObject(mappingInput).superRefine(refuseMixed), caps.mappings.max),
  replace: z.boolean().default(false),
});

/** Adds the missing mappings of a list. With `replace`, it also removes all others. */
export const importMappings = operation({
  authority: 'mappings.change',
  turn: 'computing',
  input: importInput,
  output: importedView,
  ends: {
    ask: ({ added, removed }) => `Add ${added.length} and remove ${removed.length} mappings?`,
    done: ({ added, removed }) => `Added ${added.length} and removed ${removed.length} mappings.`,
  },
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      await hold.mappings(organization.id, 'alone');
      const stored = await readStoredMappings(organization.id);
      const there = new Map(stored.map((one) => [keyOf(one), one]));
      const wanted = await readList(organization, input);
      const missing = [...wanted].flatMap(([key, one]) => (there.has(key) ? [] : [one]));
      await requireGrant(ctx, input.org, missing);
      const surplus = [...there].flatMap(([key, one]) =>
        !input.replace || wanted.has(key) ? [] : [one],
      );
      await requireMappingRoom(organization, missing.length - surplus.length);
      const added = await createMappings(ctx, organization, missing);
      const removed = await dropMappings(ctx, organization, surplus);
      await planMapped(ctx, organization.id, [...added, ...removed]);
      return { added, kept: stored.length - removed.length, removed };
    }),
});

/** The mappings in the list, without duplicates, each with its project. */
async function readList(organization: Organization, { mappings }: z.output<typeof importInput>) {
  const wanted = new Map<string, GroupRole>();
  const refused: { path: string; refusal: Refusal }[] = [];
  const find = findingOnce(organization);
  for await (const [at, given] of slowly(mappings.entries())) {
    const mapping = await requireTarget(organization, given, find).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      refused.push({ path: `mappings.${at}.project`, refusal: error });
      return null;
    });
    if (mapping !== null) wanted.set(keyOf(mapping), mapping);
  }
  requireNone(refused);
  return wanted;
}

/** Refuses all faults together, each with its position in the list. */
function requireNone(refused: { path: string; refusal: Refusal }[]): void {
  const [first] = refused;
  if (first === undefined) return;
  const { code, hint } = first.refusal;
  const all = refused.map(({ path, refusal: { message } }) => ({ path, message }));
  const { faults, moreFaults } = refuseFaults(all);
  const messages = new Set(faults.map((fault) => fault.message));
  const message = [...messages, ...moreWords(moreFaults).map((words) => `${words}.`)].join(' ');
  throw new Refusal(code, message, { faults, moreFaults, hint });
}

function keyOf(mapping: GroupRole): string {
  if ('orgRole' in mapping) return `${mapping.orgRole} ${mapping.group}`;
  return `${mapping.project.id} ${mapping.role} ${mapping.group}`;
}
