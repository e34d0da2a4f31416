import { listMembers } from '../../../services/tenancy/memberships/operations.ts';
import { showMe } from '../../../services/tenancy/profile/operations.ts';
import { html } from '../html.ts';
import { navigation, otherLinks } from '../navigation.ts';
import { viewPage } from '../page.ts';
import { badge, button, rows } from '../rows.ts';

/** The people of an organization, with their roles, as every member may see them. */
export const peoplePage = viewPage(
  '/orgs/:org/people',
  listMembers,
  async (visit, { items, nextCursor }, { org }) => {
    const { organizations } = await showMe(visit.ctx, {});
    const here = organizations.find(({ id, slug }) => org === id || org === slug);
    const title = `People of ${here?.name ?? org}`;
    const more = `/orgs/${encodeURIComponent(org)}/people?${new URLSearchParams({ cursor: nextCursor ?? '' })}`;
    return {
      title,
      wide: true,
      main: html`${navigation(organizations, `/orgs/${here?.slug ?? org}/people`)}
<div class="head"><h1>${title}</h1>
${button(visit, '/account/sign-out', 'Sign out')}</div>
<section aria-label="People">${rows(
        items.map(({ name, email, role, synced }) => ({
          name,
          mark: badge(role),
          facts: [email ?? false, synced && 'The role comes from a group.'],
        })),
      )}</section>
${nextCursor !== null && otherLinks(html`<a href="${more}">More people</a>`)}`,
    };
  },
);
