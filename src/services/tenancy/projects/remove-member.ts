import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority, requireProjectAuthority } from '../../foundation/authority/require.ts';
import { shownIn } from '../../foundation/authority/shown.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { isUuid } from '../../foundation/fields.ts';
import type { projectMemberRefInput } from './schema.ts';
import { viewProjectMember } from './view.ts';

/** Takes a member out of the project; taking a synced membership away is for the organization's admins. */
export async function removeProjectMember(ctx: Context, input: z.output<typeof projectMemberRefInput>) {
  const { organization, project } = await requireProjectAuthority(ctx, 'projectMembers.change', input);
  return transaction(async () => {
    const membership = await requireProjectMembership(project.id, input);
    const { account, role, synced } = membership;
    if (synced) await requireAuthority(ctx, 'projectMembers.changeSynced', input.org);
    const shown = await shownIn(organization.id, account);
    await membership.destroy();
    await recordEvent(ctx, {
      kind: 'project.member.removed',
      organizationId: organization.id,
      subject: { type: 'user', id: account.id, name: shown.name },
      data: { project: project.slug, role, ...(synced ? { wasSynced: true } : {}) },
    });
    return viewProjectMember(membership, shown);
  });
}

async function requireProjectMembership(
  projectId: string,
  { user, project }: z.output<typeof projectMemberRefInput>,
): Promise<ProjectMembership> {
  const membership = await ProjectMembership.findOne({
    where: { projectId },
    include: {
      model: Account,
      as: 'account',
      required: true,
      where: isUuid(user) ? { id: user } : { email: user },
    },
    lock: true,
  });
  if (membership === null) throw new Refusal('not_found', `${user} is not in ${project}.`);
  return membership;
}
