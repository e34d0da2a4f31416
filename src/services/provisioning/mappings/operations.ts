import { Op } from 'sequelize';
import { z } from 'zod';
import { GroupMapping } from '../../../database/models/group-mapping.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Project } from '../../../database/models/project.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthorityOver } from '../../foundation/authority/over.ts';
import { requireAuthority, requireProject } from '../../foundation/authority/require.ts';
import { id, projectRole, ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, readPage } from '../../foundation/page.ts';
import {
  groupName,
  importedView,
  mappingPage,
  mappingRemovedView,
  mappingView,
  viewMapping,
} from './view.ts';
import {
  createMappings,
  dropMappings,
  mostMappings,
  requireGrant,
  requireMappingRoom,
} from './write.ts';

// Maps directory groups to project roles (spec §2.3).

const triple = { group: groupName, project: ref, role: projectRole };

/** Lists the organization's group mappings. */
export const listMappings = operation({
  authority: 'mappings.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: mappingPage,
  run: (_ctx, input, { organization }) =>
    readPage(
      input,
      (after, limit) =>
        GroupMapping.findAll({
          where: { organizationId: organization.id, id: { [Op.gt]: after } },
          include: { model: Project, as: 'project', required: true },
          order: ['id'],
          limit,
        }),
      (row) => row.id,
      viewMapping,
    ),
});

/** Maps a directory's group to a role in a project. It takes effect at a person's next sign-in. */
export const addMapping = operation({
  authority: 'mappings.change',
  input: z.strictObject({ org: ref, ...triple }),
  output: mappingView,
  run: async (ctx, input, { organization }) => {
    await requireGrant(ctx, input.org, [input]);
    return transaction(async () => {
      await requireMappingRoom(organization, 1);
      const project = await requireProject(organization, input.project);
      const given = { group: input.group, project, role: input.role };
      const [made] = await createMappings(ctx, organization, [given]);
      return made;
    });
  },
});

/**
 * Removes a mapping and lists the memberships that it gave. They stay until their people sign in
 * again, and then end only if the connection sets `autoRemove`. The organization may be left out.
 */
export const removeMapping = operation({
  authority: 'mappings.change',
  prove: async (ctx, { org, id: which }) => {
    if (org !== undefined) return requireAuthority(ctx, 'mappings.change', org);
    const { organizationId } = (await GroupMapping.findByPk(which)) ?? {};
    const missing = new Refusal('not_found', `There is no mapping ${which}.`, {
      hint: 'To list them, run: idctl mappings list --org ORG',
    });
    return requireAuthorityOver(ctx, 'mappings.change', organizationId, missing);
  },
  input: z.strictObject({ org: ref.optional(), id }),
  output: mappingRemovedView,
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const mapping = await GroupMapping.findOne({
        where: { id: input.id, organizationId: organization.id },
        include: { model: Project, as: 'project', required: true },
      });
      if (mapping === null)
        throw new Refusal('not_found', `${organization.slug} has no mapping ${input.id}.`);
      return (await dropMappings(ctx, organization, [mapping]))[0];
    }),
});

const importInput = z.strictObject({
  org: ref,
  mappings: z.array(z.strictObject(triple)).max(mostMappings, `must be at most ${mostMappings}`),
  replace: z.boolean().default(false),
});

/** Adds the missing mappings of a list and, with `replace`, removes all others. All or nothing. */
export const importMappings = operation({
  authority: 'mappings.change',
  input: importInput,
  output: importedView,
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const stored = await GroupMapping.findAll({
        where: { organizationId: organization.id },
        include: { model: Project, as: 'project', required: true },
        order: ['id'],
      });
      const there = new Map(stored.map((one) => [keyOf(one.group, one.projectId, one.role), one]));
      const wanted = await readList(organization, input);
      const missing = [...wanted].flatMap(([key, one]) => (there.has(key) ? [] : [one]));
      await requireGrant(ctx, input.org, missing);
      const surplus = [...there].flatMap(([key, one]) =>
        !input.replace || wanted.has(key) ? [] : [one],
      );
      await requireMappingRoom(organization, missing.length - surplus.length);
      const added = await createMappings(ctx, organization, missing);
      const removed = await dropMappings(ctx, organization, surplus);
      return { added, kept: stored.length - removed.length, removed };
    }),
});

/** The mappings in the list, without duplicates, each with its project. */
async function readList(organization: Organization, { mappings }: z.output<typeof importInput>) {
  const wanted = new Map<string, Pick<GroupMapping, 'group' | 'project' | 'role'>>();
  const refused: { path: string; refusal: Refusal }[] = [];
  for (const [at, { group, project: named, role }] of mappings.entries()) {
    const project = await requireProject(organization, named).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      refused.push({ path: `mappings.${at}.project`, refusal: error });
      return null;
    });
    if (project !== null) wanted.set(keyOf(group, project.id, role), { group, project, role });
  }
  requireNone(refused);
  return wanted;
}

/** Refuses all errors at once, each with its position in the list. */
function requireNone(refused: { path: string; refusal: Refusal }[]): void {
  const [first] = refused;
  if (first === undefined) return;
  const { code, hint } = first.refusal;
  const faults = refused.map(({ path, refusal: { message } }) => ({ path, message }));
  const message = [...new Set(faults.map((fault) => fault.message))].join(' ');
  throw new Refusal(code, message, { faults, ...(hint === undefined ? {} : { hint }) });
}

function keyOf(group: string, projectId: string, role: string): string {
  return `${projectId} ${role} ${group}`;
}
