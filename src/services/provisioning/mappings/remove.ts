import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { GroupMapping } from '../../../database/models/group-mapping.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Project } from '../../../database/models/project.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { findGiven } from '../../tenancy/projects/synced.ts';
import type { mappingRefInput } from './schema.ts';
import { viewMapping } from './view.ts';

/**
 * Removes a mapping and names the memberships that it gave. They stay until their people sign in again,
 * and then go only where the connection says `autoRemove`.
 */
export async function removeMapping(ctx: Context, input: z.output<typeof mappingRefInput>) {
  const { organization } = await requireAuthority(ctx, 'mappings.change', input.org);
  return transaction(async () => {
    const mapping = await GroupMapping.findOne({
      where: { id: input.id, organizationId: organization.id },
      include: { model: Project, as: 'project', required: true },
    });
    if (mapping === null) throw new Refusal('not_found', `${organization.slug} has no mapping ${input.id}.`);
    return dropMapping(ctx, organization, { mapping, given: await findGiven(organization.id) });
  });
}

/** Deletes the row, with its event; the view says which memberships it had given. */
export async function dropMapping(
  ctx: Context,
  organization: Organization,
  { mapping, given }: { mapping: GroupMapping; given: Awaited<ReturnType<typeof findGiven>> },
) {
  const view = { ...viewMapping(mapping), affected: given.get(mapping.id) ?? [] };
  await mapping.destroy();
  await recordEvent(ctx, {
    kind: 'mapping.removed',
    organizationId: organization.id,
    subject: { type: 'mapping', id: mapping.id, name: mapping.group },
    data: { group: mapping.group, project: mapping.project.slug, role: mapping.role },
  });
  return view;
}
