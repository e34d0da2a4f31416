import { parse } from '../../../../input.ts';
import { isAllowed } from '../../../../services/foundation/authority/require.ts';
import { listScimRequests } from '../../../../services/provisioning/scim/log.ts';
import {
  createScimToken,
  revokeScimToken,
  rotateScimToken,
  showScimToken,
} from '../../../../services/provisioning/scim/token.ts';
import { replacing, shortPath } from '../../../../services/provisioning/scim/words.ts';
import { showOrganization } from '../../../../services/tenancy/organizations/operations.ts';
import { dayText, minuteText } from '../../../../text/dates.ts';
import { endingPages } from '../../ending.ts';
import { type Html, html } from '../../html.ts';
import { otherLinks } from '../../navigation.ts';
import {
  accessTo,
  operationForm,
  type Page,
  type PageReply,
  page,
  type ShownPage,
  type Visit,
  viewPage,
} from '../../page.ts';
import { postForm } from '../../parts.ts';
import { badge, button, endingLink, pageLinks, rows } from '../../rows.ts';
import { shownOnce } from '../../shown-once.ts';
import { goTo, sheet } from '../sheet.ts';
import { path, pathOf } from './path.ts';

type Role = Parameters<typeof isAllowed>[0];
type Token = Awaited<ReturnType<typeof showScimToken>>;
type Request = Awaited<ReturnType<typeof listScimRequests>>['items'][number];

const title = 'Accounts from your directory (SCIM)';

/** The page about SCIM, the pages of its token, and its requests. */
export const scimPages: Page[] = [
  viewPage(path, showScimToken, (visit) => showDirectory(visit)),
  page({
    path: `${path}/token`,
    access: accessTo(rotateScimToken),
    input: rotateScimToken.input,
    show: (visit) => askToReplace(visit),
  }),
  operationForm(`${path}/token`, rotateScimToken, {
    reply: (_visit, made, key) => showToken(made, key),
    refused: (visit) => showDirectory(visit),
  }),
  operationForm(`${path}/token/create`, createScimToken, {
    reply: (_visit, made, key) => showToken(made, key),
    refused: (visit) => showDirectory(visit),
  }),
  ...endingPages(`${path}/token/revoke`, revokeScimToken, {
    act: 'Revoke token',
    back: path,
    reply: (visit, _view, key) => goTo(visit, pathOf(key), 'token-revoked'),
  }),
  viewPage(`${path}/requests`, listScimRequests, (visit, { items, nextCursor }, { org }) => {
    const at = pathOf({ org });
    return sheet(
      visit,
      'Requests of your directory',
      html`<section aria-label="Requests">${requestRows(items)}</section>
${pageLinks(`${at}/requests`, {}, { nextCursor, previousCursor: null })}
${backTo(at)}`,
    );
  }),
];

const keyOf = ({ given }: Visit) => parse(showScimToken.input, { org: given['org'] });

/** The link from a page below to the page about SCIM. */
export function backTo(at: string): Html {
  return html`<p><a href="${at}">${title}</a></p>`;
}

async function showDirectory(visit: Visit): Promise<ShownPage> {
  const key = keyOf(visit);
  const { role: own = 'member' } = await showOrganization(visit.ctx, key);
  const token = await showScimToken(visit.ctx, key);
  const { items } = await listScimRequests(visit.ctx, { ...key, limit: 5 });
  const at = pathOf(key);
  return sheet(
    visit,
    title,
    html`<section aria-labelledby="connect"><h2 id="connect">Connect your directory</h2>
<p>Your directory, such as Entra ID or Okta, can add and remove people, and send their groups. Enter these values there.</p>
<p class="quiet">Address (also called base URL or tenant URL)</p><p><code class="secret">${token.baseUrl}</code></p>
${tokenPart(visit, token, { at, own })}</section>
<section aria-labelledby="requests"><h2 id="requests">Last requests</h2>
${requestRows(items)}
${items.length > 0 && html`<p><a href="${at}/requests">All requests</a></p>`}</section>
<section aria-labelledby="sent"><h2 id="sent">People, groups and roles</h2>
${rows([
  { name: 'People', href: `${at}/users`, text: 'The people that your directory has sent.' },
  { name: 'Groups', href: `${at}/groups`, text: 'The groups that your directory has sent.' },
  {
    name: 'Roles for groups',
    href: `${at}/mappings`,
    text: 'The roles that the groups of your directory or provider give.',
  },
])}</section>`,
  );
}

/** The state of the token, and what the viewer may do with it. */
function tokenPart(
  visit: Visit,
  { configured, prefix, createdAt, lastUsedAt, suspendedAt }: Token,
  { at, own }: { at: string; own: Role },
): Html {
  if (!configured) {
    const isOwner = isAllowed(own, 'scim.create');
    return html`<p>There is no token. ${isOwner ? 'Your directory needs one.' : 'Only an owner can create one. Ask an owner.'}</p>
${isOwner && button(visit, `${at}/token/create`, 'Create token')}`;
  }
  const isOwner = isAllowed(own, 'scim.rotate');
  const used = lastUsedAt === null ? 'Not used yet' : `Last used ${minuteText(lastUsedAt)}`;
  const shown = {
    name: `Token ${prefix}…`,
    ...(suspendedAt !== undefined && {
      mark: badge('suspended'),
      text: 'The token comes from a backup, so it does not work. Replace it.',
    }),
    facts: [createdAt !== null && `Created ${dayText(createdAt)}`, used],
  };
  const replace = isOwner && endingLink(`${at}/token`, 'Replace token');
  return html`${rows([shown])}
<div class="buttons">${replace}${endingLink(`${at}/token/revoke`, 'Revoke token')}</div>
${!isOwner && html`<p class="quiet">Only an owner can replace the token.</p>`}`;
}

/** Asks before the token is replaced. Without one, it leads to the page that creates it. */
async function askToReplace(visit: Visit): Promise<PageReply> {
  const key = keyOf(visit);
  const at = pathOf(key);
  const { configured, prefix } = await showScimToken(visit.ctx, key);
  if (!configured) return { goTo: at };
  const { ask, effect } = replacing(prefix);
  const act = 'Replace token';
  return {
    title: act,
    main: html`<h1>${ask}</h1>
<p>${effect}</p>
${postForm(visit, `${at}/token`, html`<button class="danger" type="submit">${act}</button>`)}
${otherLinks(html`<a href="${at}">Cancel</a>`)}`,
  };
}

function showToken(
  { token, prefix }: Awaited<ReturnType<typeof createScimToken>>,
  key: { org: string },
): ShownPage {
  return shownOnce('Your SCIM token', { of: `${prefix}…`, secret: token, back: pathOf(key) });
}

function requestRows(requests: Request[]): Html {
  const shown = requests.map(({ at, method, path: of, status, reason }) => ({
    name: `${method} ${shortPath(of)}`,
    mark: badge(status < 400 ? 'ok' : 'refused'),
    text: reason,
    facts: [`${minuteText(at)} · Status ${status}`],
  }));
  return rows(shown, 'Your directory has not sent a request in the last seven days.');
}
