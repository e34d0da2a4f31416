import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Project } from '../../../database/models/project.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { slugOf } from '../organizations/slug.ts';
import type { createProjectInput } from './schema.ts';
import { viewProject } from './view.ts';

/** Makes a project, which nobody belongs to yet. Refuses `already_exists` for a slug taken in the organization. */
export async function createProject(ctx: Context, input: z.output<typeof createProjectInput>) {
  const { organization } = await requireAuthority(ctx, 'projects.change', input.org);
  const slug = input.slug ?? slugOf(input.name);
  return transaction(async () => {
    const row = { organizationId: organization.id, slug, name: input.name, createdAt: ctx.now };
    const project = await refusingDuplicate(Project.create({ id: orderedId(), ...row }), {
      message: `There is a project ${slug} in ${organization.slug} already.`,
      hint: 'Choose another short name with --slug (or `slug`).',
    });
    await recordEvent(ctx, {
      kind: 'project.created',
      organizationId: organization.id,
      subject: { type: 'project', id: project.id, name: project.name },
    });
    return viewProject(project, 0);
  });
}
