import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireProject } from '../../foundation/authority/project.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import type { projectRefInput } from './schema.ts';
import { showProject } from './show.ts';

/** Deletes the project with its memberships; its people stay members of the organization. */
export async function deleteProject(ctx: Context, input: z.output<typeof projectRefInput>) {
  const { organization } = await requireAuthority(ctx, 'projects.change', input.org);
  return transaction(async () => {
    const project = await requireProject(organization, input.project);
    const view = await showProject(ctx, project);
    await project.destroy();
    await recordEvent(ctx, {
      kind: 'project.deleted',
      organizationId: organization.id,
      subject: { type: 'project', id: project.id, name: project.name },
      data: { members: view.members },
    });
    return view;
  });
}
