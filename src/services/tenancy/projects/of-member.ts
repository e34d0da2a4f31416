import { z } from 'zod';
import { projectRole, ref, userRef } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { findMembership, memberView, originView, viewMember } from '../memberships/membership.ts';
import { readOwnProjects } from '../profile/own-organizations.sql.ts';

const maxProjects = 50;

const shownMemberView = memberView.extend({
  projects: z
    .array(
      z.object({ slug: z.string(), role: projectRole, synced: z.boolean(), origin: originView }),
    )
    .describe(`The person's first ${maxProjects} projects in the organization, by slug.`),
  moreProjects: z.int().describe('How many more projects the person belongs to.'),
});

/** Shows a member, with the first 50 projects that the person belongs to. */
export const showMember = operation({
  authority: 'projects.seeAll',
  input: z.strictObject({ org: ref, user: userRef }),
  output: shownMemberView,
  run: async (_ctx, input, { organization }) => {
    const { membership, shown } = await findMembership(organization, input.user);
    const { accountId } = membership;
    const { projects, more } = await readOwnProjects(accountId, organization.id, maxProjects);
    return { ...viewMember(membership, shown), projects, moreProjects: more };
  },
});
