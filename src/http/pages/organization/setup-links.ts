import { z } from 'zod';
import { parse } from '../../../input.ts';
import { showOrganization } from '../../../services/tenancy/organizations/operations.ts';
import {
  createSetupLink,
  listSetupLinks,
  revokeSetupLink,
} from '../../../services/tenancy/setup-links/operations.ts';
import {
  partsInWords,
  partWords,
  setupPart,
} from '../../../services/tenancy/setup-links/setup-link.ts';
import { dayText } from '../../../text/dates.ts';
import { endingPages } from '../ending.ts';
import { type Html, html } from '../html.ts';
import { accessTo, form, type Page, type ShownPage, type Visit, viewPage } from '../page.ts';
import { choice, field, postForm } from '../parts.ts';
import { badge, endingLink, rows } from '../rows.ts';
import { shownOnce } from '../shown-once.ts';
import { goTo, sheet } from './sheet.ts';

/** The page with the setup links of an organization. */
const setupLinksPath = '/orgs/:org/settings/setup-links';

const { org, email, expires } = createSetupLink.input.shape;
const pathOf = ({ given }: Visit) =>
  `/orgs/${encodeURIComponent(given['org'] ?? '')}/settings/setup-links`;
const lives = { '1d': 'one day', '7d': 'seven days', '30d': '30 days' };
const isChosen = z.boolean().optional();

/** The pages on which an owner creates, sees and revokes setup links. */
export const setupLinkPages: Page[] = [
  viewPage(setupLinksPath, listSetupLinks, (visit) => showLinks(visit)),
  form({
    path: setupLinksPath,
    access: accessTo(createSetupLink),
    input: z.strictObject({
      ...{ org, email, expires },
      ...{ domain: isChosen, sso: isChosen, ldap: isChosen, scim: isChosen },
    }),
    act: async (visit, { org: of, email: to, expires: life, ...chosen }) => {
      const parts = setupPart.options.filter((part) => chosen[part]);
      const input = { org: of, email: to, expires: life, for: parts };
      const { url, mailed } = await createSetupLink(visit.ctx, parse(createSetupLink.input, input));
      const mail = mailed ? ' A mail with it is on its way too.' : '';
      return shownOnce(`The setup link${mailed ? ' was sent' : ''}`, {
        of: `the link for ${partsInWords(parts)}.${mail}`,
        secret: url,
        back: pathOf(visit),
      });
    },
    refused: showLinks,
  }),
  ...endingPages(`${setupLinksPath}/:id/revoke`, revokeSetupLink, {
    act: 'Revoke setup link',
    back: setupLinksPath,
    reply: (visit) => goTo(visit, pathOf(visit), 'setup-link-revoked'),
  }),
];

const states = {
  unopened: 'not opened',
  opened: 'in use',
};

async function showLinks(visit: Visit): Promise<ShownPage> {
  const key = parse(listSetupLinks.input, { org: visit.given['org'], limit: 200 });
  const { name } = await showOrganization(visit.ctx, { org: key.org });
  const { items } = await listSetupLinks(visit.ctx, key);
  const shown = items.map((link) => ({
    name: link.email ?? 'A link without an address',
    mark: badge(states[link.state]),
    text: partsInWords(link.for),
    facts: [`Expires ${dayText(link.expiresAt)}`],
    action: endingLink(`${pathOf(visit)}/${link.id}/revoke`, 'Revoke'),
  }));
  return sheet(
    visit,
    `Setup links of ${name}`,
    html`<section aria-labelledby="links"><h2 id="links">Links</h2>
<p class="quiet">With a setup link, a person without an account sets up sign-in. It works in one browser.</p>
${rows(shown, 'There is no setup link.')}</section>
<section aria-labelledby="create"><h2 id="create">Create a link</h2>
${createForm(visit)}</section>
<p><a href="/orgs/${encodeURIComponent(key.org)}/sign-in">Sign-in</a></p>`,
  );
}

function createForm(visit: Visit): Html {
  const parts = setupPart.options.map((part) => {
    const isOn = visit.given[part] === 'true';
    return html`<label class="check"><input type="checkbox" name="${part}" value="true"${isOn && html` checked`}> ${partWords[part]}</label>`;
  });
  const note = 'The link is mailed to it, if this service sends mail. Events name the address.';
  const content = html`<div role="group" aria-labelledby="parts"><p id="parts">What to set up</p>${parts}</div>
${field(visit, { name: 'email', label: 'E-mail address', type: 'email', note, autocomplete: 'off', maxLength: 1000, optional: true })}
${choice(visit, { name: 'expires', label: 'How long it lives', options: lives, value: '7d' })}
<button type="submit">Create link</button>`;
  return postForm(visit, pathOf(visit), content);
}
