import { isAllowed } from '../../../services/foundation/authority/require.ts';
import { showOrganization } from '../../../services/tenancy/organizations/operations.ts';
import { listOwnProjects } from '../../../services/tenancy/profile/own-organizations.ts';
import { html } from '../html.ts';
import { viewPage } from '../page.ts';
import { andMore, badge, rows } from '../rows.ts';
import { setUpSection } from './checklist.ts';
import { sheet } from './sheet.ts';

/** The start page of an organization: for its admins, also what is left to set up. */
export const organizationPage = viewPage(
  '/orgs/:org',
  showOrganization,
  async (visit, { id, slug, name, role = 'member' }) => {
    const { projects, more } = await listOwnProjects(visit.ctx, id);
    const mine = projects.map(({ slug: project, role: as, synced }) => {
      return {
        name: project,
        href: `/orgs/${slug}/projects/${project}`,
        mark: badge(as),
        facts: [synced && 'The role comes from a group.'],
      };
    });
    const isAdmin = isAllowed(role, 'domains.see');
    return sheet(
      visit,
      name,
      html`${isAdmin && (await setUpSection(visit.ctx, { slug, role }))}
<section aria-labelledby="you"><h2 id="you">Your role and projects</h2>
<p>You are ${role === 'member' ? 'a member' : `an ${role}`} of ${name}. <a href="/orgs/${slug}/people">See its people</a></p>
${rows(mine, 'You are not in a project of this organization.')}
${andMore(more)}</section>`,
    );
  },
);
