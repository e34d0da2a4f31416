import { parse } from '../../../../input.ts';
import { isAllowed } from '../../../../services/foundation/authority/require.ts';
import { listScimRequests } from '../../../../services/provisioning/scim/log.ts';
import {
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
  page,
  type ShownPage,
  type Visit,
  viewPage,
} from '../../page.ts';
import { alert, postForm } from '../../parts.ts';
import { badge, button, endingLink, pageLinks, rows } from '../../rows.ts';
import { shownOnce } from '../../shown-once.ts';
import { goTo, sheet } from '../sheet.ts';
import { path, pathOf } from './path.ts';

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
    show: (visit) => askToken(visit),
  }),
  operationForm(`${path}/token`, rotateScimToken, {
    reply: (_visit, { token, prefix }, key) =>
      shownOnce('Your SCIM token', { of: `${prefix}…`, secret: token, back: pathOf(key) }),
    refused: (visit) => askToken(visit),
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
${tokenPart(visit, token, { at, isOwner: isAllowed(own, 'scim.rotate') })}</section>
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
  { at, isOwner }: { at: string; isOwner: boolean },
): Html {
  if (!configured)
    return html`<p>There is no token. ${isOwner ? 'Your directory needs one.' : 'Only an owner can create one. Ask an owner.'}</p>
${isOwner && button(visit, `${at}/token`, 'Create token')}`;
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

/** Asks before a token is replaced. Without a token, a form creates the first one. */
async function askToken(visit: Visit): Promise<ShownPage> {
  const key = keyOf(visit);
  const at = pathOf(key);
  const { configured, prefix } = await showScimToken(visit.ctx, key);
  const { ask, effect } = replacing(prefix);
  const act = configured ? 'Replace token' : 'Create token';
  const content = html`<button${configured && html` class="danger"`} type="submit">${act}</button>`;
  return {
    title: act,
    main: html`<h1>${configured ? ask : 'Create a SCIM token?'}</h1>
${alert(visit)}${configured && html`<p>${effect}</p>`}
${postForm(visit, `${at}/token`, content)}
${otherLinks(html`<a href="${at}">Cancel</a>`)}`,
  };
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
