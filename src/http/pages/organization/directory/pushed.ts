import {
  listScimGroupMembers,
  listScimGroups,
} from '../../../../services/provisioning/scim/groups/admin.ts';
import { listScimUsers } from '../../../../services/provisioning/scim/list/records.ts';
import { dayText } from '../../../../text/dates.ts';
import { counted } from '../../../../text/words.ts';
import { type Html, html } from '../../html.ts';
import { type Page, viewPage } from '../../page.ts';
import { badge, pageLinks, rows } from '../../rows.ts';
import { sheet } from '../sheet.ts';
import { backTo } from './overview.ts';
import { path, pathOf } from './path.ts';

type User = Awaited<ReturnType<typeof listScimUsers>>['items'][number];

/** The pages with the people and groups that the directory has sent. */
export const pushedPages: Page[] = [
  viewPage(`${path}/users`, listScimUsers, (visit, { items, nextCursor }, key) => {
    const at = pathOf(key);
    return sheet(
      visit,
      'People from your directory',
      html`<section aria-label="People">${userRows(items, 'Your directory has not sent a person.')}</section>
${pageLinks(`${at}/users`, {}, { nextCursor, previousCursor: null })}
${backTo(at)}`,
    );
  }),
  viewPage(`${path}/groups`, listScimGroups, (visit, { items, nextCursor }, key) => {
    const at = pathOf(key);
    const shown = items.map(({ id, displayName, externalId, members, updatedAt }) => ({
      name: displayName,
      href: `${at}/groups/${id}`,
      facts: [
        `${counted(members, 'person', 'people')} · Changed ${dayText(updatedAt)}`,
        externalId !== null && `ID in your directory: ${externalId}`,
      ],
    }));
    return sheet(
      visit,
      'Groups from your directory',
      html`<section aria-label="Groups">${rows(shown, 'Your directory has not sent a group.')}</section>
${pageLinks(`${at}/groups`, {}, { nextCursor, previousCursor: null })}
${backTo(at)}`,
    );
  }),
  viewPage(`${path}/groups/:members`, listScimGroupMembers, (visit, { items, nextCursor }, key) => {
    const at = `${pathOf(key)}/groups`;
    return sheet(
      visit,
      'People in the group',
      html`<section aria-label="People">${userRows(items, 'There is no one in the group.')}</section>
${pageLinks(`${at}/${encodeURIComponent(key.members)}`, {}, { nextCursor, previousCursor: null })}
<p><a href="${at}">Groups from your directory</a></p>`,
    );
  }),
];

function userRows(users: User[], none: string): Html {
  const shown = users.map(({ userName, externalId, email, active, updatedAt }) => ({
    name: userName,
    mark: badge(active ? 'active' : 'deactivated'),
    facts: [
      email !== null && email !== userName && email,
      externalId !== null && `ID in your directory: ${externalId}`,
      `Changed ${dayText(updatedAt)}`,
    ],
  }));
  return rows(shown, none);
}
