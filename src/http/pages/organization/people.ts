import { listMembers } from '../../../services/tenancy/memberships/operations.ts';
import { showOrganization } from '../../../services/tenancy/organizations/operations.ts';
import { html } from '../html.ts';
import { otherLinks } from '../navigation.ts';
import { viewPage } from '../page.ts';
import { badge, rows } from '../rows.ts';
import { sheet } from './sheet.ts';

/** The people of an organization, with their roles, as every member may see them. */
export const peoplePage = viewPage(
  '/orgs/:org/people',
  listMembers,
  async (visit, { items, nextCursor }, { org }) => {
    const { slug, name } = await showOrganization(visit.ctx, { org });
    const more = `/orgs/${slug}/people?${new URLSearchParams({ cursor: nextCursor ?? '' })}`;
    const people = rows(
      items.map(({ name, email, role, synced }) => ({
        name,
        mark: badge(role),
        facts: [email ?? false, synced && 'The role comes from a group.'],
      })),
    );
    return sheet(
      visit,
      `People of ${name}`,
      html`<section aria-label="People">${people}</section>
${nextCursor !== null && otherLinks(html`<a href="${more}">More people</a>`)}`,
    );
  },
);
