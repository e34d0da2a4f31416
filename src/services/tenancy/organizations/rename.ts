import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import type { renameOrganizationInput } from './schema.ts';
import { viewOrganization } from './view.ts';

/** Gives the organization another name; its slug stays, so that links to it do. */
export async function renameOrganization(ctx: Context, input: z.output<typeof renameOrganizationInput>) {
  const { organization, role } = await requireAuthority(ctx, 'organization.rename', input.org);
  const from = organization.name;
  await transaction(async () => {
    await organization.update({ name: input.name });
    await recordEvent(ctx, {
      kind: 'organization.renamed',
      organizationId: organization.id,
      subject: { type: 'organization', id: organization.id, name: input.name },
      data: { from },
    });
  });
  return viewOrganization(organization, role);
}
