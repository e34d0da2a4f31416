import { parse } from '../../../../input.ts';
import { isAllowed } from '../../../../services/foundation/authority/require.ts';
import {
  deleteOrganization,
  renameOrganization,
  showOrganization,
} from '../../../../services/tenancy/organizations/operations.ts';
import { addWebhook, listWebhooks } from '../../../../services/tenancy/webhooks/operations.ts';
import { webhookWords } from '../../../../services/tenancy/webhooks/words.ts';
import { endingPages } from '../../ending.ts';
import { type Html, html } from '../../html.ts';
import { markNotice } from '../../marks.ts';
import { operationForm, type Page, type ShownPage, type Visit, viewPage } from '../../page.ts';
import { area, field, postForm } from '../../parts.ts';
import { badge, endingLink, rows } from '../../rows.ts';
import { shownOnce } from '../../shown-once.ts';
import { goTo, sheet } from '../sheet.ts';
import { path, pathOf } from './path.ts';

/** The forms of the page that can be refused. */
type Part = 'name' | 'webhook';
type Draft = Pick<Visit, 'given' | 'refusal'>;

/** The page with the settings of an organization, and its forms. */
export const settingsPages: Page[] = [
  viewPage(path, listWebhooks, (visit) => showSettings(visit)),
  operationForm(`${path}/name`, renameOrganization, {
    reply: (visit, _view, key) => goTo(visit, pathOf(key), 'renamed'),
    refused: (visit) => showSettings(visit, 'name'),
  }),
  operationForm(`${path}/webhooks`, addWebhook, {
    reply: (_visit, { id, url, secret }, key) =>
      shownOnce('The secret of the webhook', {
        ...{ of: url, secret, back: `${pathOf(key)}/webhooks/${id}` },
      }),
    refused: (visit) => showSettings(visit, 'webhook'),
  }),
  ...endingPages(`${path}/delete`, deleteOrganization, {
    act: 'Delete organization',
    back: path,
    further: async () => [deletionEffect],
    reply: (visit) => {
      const done = markNotice(visit, 'organization-deleted');
      return { goTo: `/?${new URLSearchParams({ done })}#organizations` };
    },
  }),
];

const maxWebhooks = 200;

const deletionEffect =
  'Its memberships, projects, domains, connections, applications and webhooks are deleted too. The accounts of the people stay.';

async function showSettings(visit: Visit, refusedIn?: Part): Promise<ShownPage> {
  const key = parse(listWebhooks.input, { org: visit.given['org'], limit: maxWebhooks });
  const { slug, name, role: own = 'member' } = await showOrganization(visit.ctx, key);
  const { items } = await listWebhooks(visit.ctx, key);
  const at = pathOf({ org: slug });
  const draftOf = (part: Part): Draft => (refusedIn === part ? visit : { given: {} });
  const webhooks = items.map(({ id, url, events, enabled, failingSince }) => ({
    name: url,
    href: `${at}/webhooks/${id}`,
    mark: badge(enabled ? 'on' : 'off'),
    facts: [events.join(', '), failingSince !== null && 'The last messages were not accepted.'],
  }));
  return sheet(
    visit,
    `Settings of ${name}`,
    html`${isAllowed(own, 'organization.rename') && nameSection(visit, { name, slug, at }, draftOf('name'))}
<section aria-labelledby="webhooks"><h2 id="webhooks">Webhooks</h2>
<p class="quiet">A webhook sends what happens in the organization to a program of yours, as signed messages.</p>
${rows(webhooks, 'There is no webhook.')}</section>
<section aria-labelledby="add-webhook"><h2 id="add-webhook">Add a webhook</h2>
${addForm(visit, `${at}/webhooks`, draftOf('webhook'))}</section>
${isAllowed(own, 'setupLinks.see') && setupLinksSection(at)}
${isAllowed(own, 'organization.delete') && deleteSection(at)}`,
  );
}

function nameSection(
  visit: Visit,
  { name, slug, at }: { name: string; slug: string; at: string },
  draft: Draft,
): Html {
  const note = `The short name ${slug} stays, so that links stay valid.`;
  const content = html`${field(draft, { name: 'name', label: 'Name', note, autocomplete: 'off', maxLength: 200, value: name })}
<button type="submit">Rename</button>`;
  return html`<section aria-labelledby="name-title"><h2 id="name-title">Name</h2>
${postForm(visit, `${at}/name`, content)}</section>`;
}

function addForm(visit: Visit, action: string, draft: Draft): Html {
  const { url } = webhookWords;
  const content = html`${field(draft, { name: 'url', label: url.label, note: url.about, autocomplete: 'off', verbatim: true, maxLength: 2000 })}
${eventsField(draft, undefined)}
<button type="submit">Add webhook</button>`;
  return postForm(visit, action, content);
}

/** The field for the kinds of events. If it is empty, a new webhook gets all kinds. */
export function eventsField(draft: Draft, events: string[] | undefined): Html {
  const note = 'One kind on each line, such as member.removed, or a group such as scim.*';
  const isNew = events === undefined;
  return area(draft, {
    ...{ name: 'events', label: webhookWords.events.label, maxLength: 10_000 },
    note: isNew ? `${note}. If it is empty, all kinds are sent.` : `${note}, or * for all kinds.`,
    value: events?.join('\n'),
    ...(isNew && { optional: true }),
  });
}

function setupLinksSection(at: string): Html {
  return html`<section aria-labelledby="setup-links"><h2 id="setup-links">Setup links</h2>
<p class="quiet">A person without an account can set up sign-in for you with such a link.</p>
<div class="buttons"><a class="button small" href="${at}/setup-links">Setup links</a></div></section>`;
}

function deleteSection(at: string): Html {
  return html`<section aria-labelledby="deletion"><h2 id="deletion">Delete the organization</h2>
<p class="quiet">${deletionEffect}</p>
<div class="buttons">${endingLink(`${at}/delete`, 'Delete organization')}</div></section>`;
}
