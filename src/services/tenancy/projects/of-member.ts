import { z } from 'zod';
import { Project } from '../../../database/models/project.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { projectRole, ref, userRef } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { findMembership, memberView, originView, viewMember } from '../memberships/membership.ts';

const shownMemberView = memberView.extend({
  projects: z
    .array(
      z.object({
        slug: z.string(),
        name: z.string(),
        role: projectRole,
        synced: z.boolean(),
        origin: originView,
      }),
    )
    .describe('The projects of the organization that the person belongs to, by name.'),
});

/** Shows a member, with the projects that the person belongs to. */
export const showMember = operation({
  authority: 'projects.seeAll',
  input: z.strictObject({ org: ref, user: userRef }),
  output: shownMemberView,
  run: async (_ctx, input, { organization }) => {
    const { membership, shown } = await findMembership(organization, input.user);
    const rows = await ProjectMembership.findAll({
      where: { accountId: membership.accountId },
      include: { model: Project, as: 'project', where: { organizationId: organization.id } },
      order: [
        ['project', 'name', 'ASC'],
        ['project', 'id', 'ASC'],
      ],
    });
    const projects = rows.map(({ project: { slug, name }, role, synced, origin }) => {
      return { slug, name, role, synced, origin };
    });
    return { ...viewMember(membership, shown), projects };
  },
});
