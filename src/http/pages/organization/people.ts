import type { z } from 'zod';
import { isAllowed } from '../../../services/foundation/authority/require.ts';
import { listMembers } from '../../../services/tenancy/memberships/operations.ts';
import { showOrganization } from '../../../services/tenancy/organizations/operations.ts';
import { dayText } from '../../../text/dates.ts';
import { type Html, html } from '../html.ts';
import { viewPage } from '../page.ts';
import { badge, pageLinks, rows } from '../rows.ts';
import { sheet } from './sheet.ts';
import { type Member, originWords, roleWords } from './words.ts';

type Asked = z.output<typeof listMembers.input>;

/**
 * The people of an organization, page by page, with a search. Every member sees names and roles;
 * admins also see where a membership comes from.
 */
export const peoplePage = viewPage(
  '/orgs/:org/people',
  listMembers,
  async (visit, { items, nextCursor, previousCursor }, asked) => {
    const { slug, name, role = 'member' } = await showOrganization(visit.ctx, { org: asked.org });
    const path = `/orgs/${slug}/people`;
    const isAdmin = isAllowed(role, 'projects.seeAll');
    const shown = items.map((member) => ({
      name: member.name,
      ...(isAdmin && { href: `${path}/${member.userId}` }),
      mark: badge(member.role),
      facts: [member.email ?? '', roleWords(member), isAdmin ? beganAt(member) : ''],
    }));
    const { q, role: only } = asked;
    const filter = { q, role: only };
    const links = pageLinks(path, filter, { nextCursor, previousCursor });
    return sheet(
      visit,
      `People of ${name}`,
      html`<section aria-label="People">
${isAdmin && html`<p><a class="button small" href="${path}/invite">Invite people</a></p>`}
${searchForm(path, asked)}
${rows(shown, noneText(asked, nextCursor !== null))}</section>
${links}`,
    );
  },
);

function beganAt(member: Member): string {
  return `${originWords(member)} · ${dayText(member.joinedAt)}`;
}

function noneText({ q, role }: Asked, hasMore: boolean): string {
  if (hasMore) return 'No one was found on this page. The search goes on on the next page.';
  if (q === undefined && role === undefined) return 'There is no one on this page.';
  return 'No one was found. Search for a part of the name or address.';
}

const roleChoices = { '': 'All roles', member: 'Members', admin: 'Admins', owner: 'Owners' };

function searchForm(path: string, { q, role }: Asked): Html {
  const options = Object.entries(roleChoices).map(
    ([value, text]) =>
      html`<option value="${value}"${value === (role ?? '') && html` selected`}>${text}</option>`,
  );
  return html`<form method="get" action="${path}" role="search" class="search">
<div><label for="q">Name or address</label>
<input id="q" name="q" type="search" autocomplete="off" maxlength="60"${q !== undefined && html` value="${q}"`}></div>
<div><label for="role">Role</label>
<select id="role" name="role">${options}</select></div>
<button type="submit">Search</button>
</form>`;
}
