import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { GroupMapping } from '../../database/models/group-mapping.ts';
import { Project } from '../../database/models/project.ts';
import { transaction } from '../../database/transaction.ts';
import { requireAuthority } from '../authority/require.ts';
import { requireProject } from '../projects/find.ts';
import { addMapping } from './add.ts';
import { findGiven } from './affected.ts';
import { dropMapping } from './remove.ts';
import type { importMappingsInput } from './schema.ts';

/**
 * Brings the organization's mappings to what a list says: adds what is missing and, with `replace`,
 * removes what the list does not have. All of it or nothing.
 */
export async function importMappings(ctx: Context, input: z.output<typeof importMappingsInput>) {
  const { organization } = await requireAuthority(ctx, 'mappings.change', input.org);
  return transaction(async () => {
    const stored = await GroupMapping.findAll({
      where: { organizationId: organization.id },
      include: { model: Project, as: 'project', required: true },
      order: ['id'],
    });
    const surplus = new Map(
      stored.map((mapping) => [keyOf(mapping.group, mapping.projectId, mapping.role), mapping]),
    );
    const seen = new Set<string>();
    const added = [];
    for (const { group, project: named, role } of input.mappings) {
      const project = await requireProject(organization, named);
      const key = keyOf(group, project.id, role);
      if (!seen.has(key) && !surplus.has(key)) {
        added.push(await addMapping(ctx, { org: input.org, group, project: project.id, role }));
      }
      seen.add(key);
    }
    const removed = [];
    const given = await findGiven(organization.id);
    for (const [key, mapping] of input.replace ? surplus : []) {
      if (!seen.has(key)) removed.push(await dropMapping(ctx, organization, { mapping, given }));
    }
    return { added, kept: stored.length - removed.length, removed };
  });
}

function keyOf(group: string, projectId: string, role: string): string {
  return `${projectId} ${role} ${group}`;
}
