import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { GroupMapping } from '../../../database/models/group-mapping.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { Project, ProjectRole } from '../../../database/models/project.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { shellWord } from '../../../shell-word.ts';
import { requireProject } from '../../foundation/authority/project.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { requireRoom } from './room.ts';
import type { addMappingInput } from './schema.ts';
import { viewMapping } from './view.ts';

/** Maps a directory's group to a role in one of the organization's projects; nobody changes before their next sign-in. */
export async function addMapping(ctx: Context, input: z.output<typeof addMappingInput>) {
  const operation = outranks(input.role, 'member') ? 'mappings.grantAdmin' : 'mappings.change';
  const { organization } = await requireAuthority(ctx, operation, input.org);
  return transaction(async () => {
    await requireRoom(organization, 1);
    const project = await requireProject(organization, input.project);
    return createMapping(ctx, organization, { group: input.group, project, role: input.role });
  });
}

/** Writes the row, with its event; whether there is room for it was asked before. */
export async function createMapping(
  ctx: Context,
  organization: Organization,
  { group, project, role }: { group: string; project: Project; role: ProjectRole },
) {
  const row = { id: orderedId(), organizationId: organization.id, projectId: project.id, group, role };
  const mapping = await refusingDuplicate(GroupMapping.create({ ...row, createdAt: ctx.now }), {
    message: `${JSON.stringify(group)} is mapped to ${project.slug} as ${role} already.`,
    hint: `See them with: idctl mappings list --org ${shellWord(organization.slug)}`,
  });
  mapping.project = project;
  await recordEvent(ctx, {
    kind: 'mapping.added',
    organizationId: organization.id,
    subject: { type: 'mapping', id: mapping.id, name: group },
    data: { group, project: project.slug, role },
  });
  return viewMapping(mapping);
}
