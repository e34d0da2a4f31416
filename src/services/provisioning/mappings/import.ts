import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { GroupMapping } from '../../../database/models/group-mapping.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Project } from '../../../database/models/project.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireProject } from '../../foundation/authority/project.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { findGiven } from '../../tenancy/projects/synced.ts';
import { createMapping } from './add.ts';
import { dropMapping } from './remove.ts';
import { requireRoom } from './room.ts';
import type { importMappingsInput } from './schema.ts';

type Input = z.output<typeof importMappingsInput>;

/**
 * Brings the organization's mappings to what a list says: adds what is missing and, with `replace`,
 * removes what the list does not have. All of it or nothing.
 */
export async function importMappings(ctx: Context, input: Input) {
  const { organization } = await requireAuthority(ctx, 'mappings.change', input.org);
  return transaction(async () => {
    const stored = await GroupMapping.findAll({
      where: { organizationId: organization.id },
      include: { model: Project, as: 'project', required: true },
      order: ['id'],
    });
    const there = new Map(stored.map((one) => [keyOf(one.group, one.projectId, one.role), one]));
    const wanted = await readList(organization, input);
    const missing = [...wanted].flatMap(([key, one]) => (there.has(key) ? [] : [one]));
    if (missing.some(({ role }) => outranks(role, 'member'))) {
      await requireAuthority(ctx, 'mappings.grantAdmin', input.org);
    }
    const surplus = [...there].flatMap(([key, one]) => (!input.replace || wanted.has(key) ? [] : [one]));
    await requireRoom(organization, missing.length - surplus.length);
    const added = [];
    for (const one of missing) added.push(await createMapping(ctx, organization, one));
    const removed = [];
    const given = await findGiven(organization.id);
    for (const mapping of surplus) removed.push(await dropMapping(ctx, organization, { mapping, given }));
    return { added, kept: stored.length - removed.length, removed };
  });
}

/** What the list says, each once, with its project. */
async function readList(organization: Organization, { mappings }: Input) {
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

/** Refuses all that were refused at once, each with which of the list it is. */
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
