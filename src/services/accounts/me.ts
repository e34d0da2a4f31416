import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { Membership } from '../../database/models/membership.ts';
import { Organization } from '../../database/models/organization.ts';
import { Project } from '../../database/models/project.ts';
import { ProjectMembership } from '../../database/models/project-membership.ts';
import { transaction } from '../../database/transaction.ts';
import { requireUser } from '../authority/require.ts';
import type { updateMeInput } from './schema.ts';
import { viewUser } from './view.ts';

/** The person who asks, with the organizations they belong to. */
export async function showMe(ctx: Context) {
  const { accountId } = requireUser(ctx, 'me.see');
  const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
  const memberships = await Membership.findAll({
    where: { accountId },
    include: { model: Organization, as: 'organization', required: true },
    order: ['organizationId'],
  });
  const projects = await ProjectMembership.findAll({
    where: { accountId },
    include: { model: Project, as: 'project', required: true },
    order: ['projectId'],
  });
  const organizations = memberships.map(({ role, organization: { id, slug, name } }) => ({
    id,
    slug,
    name,
    role,
    projects: projects.filter(({ project }) => project.organizationId === id).map(viewOwnProject),
  }));
  return { ...viewUser(account), organizations };
}

function viewOwnProject({ role, synced, project: { id, slug } }: ProjectMembership) {
  return { id, slug, role, synced };
}

/** Changes the name and locale of the person who asks; what is absent stays. */
export async function updateMe(ctx: Context, input: z.output<typeof updateMeInput>) {
  const { accountId } = requireUser(ctx, 'me.change');
  const { name, locale } = input;
  await transaction(async () => {
    await Account.update(
      { ...(name === undefined ? {} : { name }), ...(locale === undefined ? {} : { locale }) },
      { where: { id: accountId } },
    );
  });
  return showMe(ctx);
}
