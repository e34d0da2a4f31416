import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireProject } from '../../foundation/authority/project.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import type { renameProjectInput } from './schema.ts';
import { showProject } from './show.ts';

/** Gives the project another name; its slug stays, so that links to it do. */
export async function renameProject(ctx: Context, input: z.output<typeof renameProjectInput>) {
  const { organization } = await requireAuthority(ctx, 'projects.change', input.org);
  return transaction(async () => {
    const project = await requireProject(organization, input.project);
    const from = project.name;
    await project.update({ name: input.name });
    await recordEvent(ctx, {
      kind: 'project.renamed',
      organizationId: organization.id,
      subject: { type: 'project', id: project.id, name: project.name },
      data: { from },
    });
    return showProject(ctx, project);
  });
}
