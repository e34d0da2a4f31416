import { z } from 'zod';
import { parse } from '../../../input.ts';
import { viewMetadata } from '../../../services/people/apps/metadata.ts';
import { testClient } from '../../../services/signin/provider/test.ts';
import type { clientView } from '../../../services/tenancy/clients/client.ts';
import {
  changeClient,
  createClient,
  listClients,
  removeClient,
  rotateClient,
  showClient,
} from '../../../services/tenancy/clients/operations.ts';
import { showOrganization } from '../../../services/tenancy/organizations/operations.ts';
import { endingPages } from '../ending.ts';
import { type Html, html } from '../html.ts';
import {
  accessTo,
  operationForm,
  type Page,
  page,
  type ShownPage,
  type Visit,
  viewPage,
} from '../page.ts';
import { field, postForm } from '../parts.ts';
import { badge, endingLink, pageLinks, rows } from '../rows.ts';
import { isSentAgain } from '../sent-again.ts';
import { clientFields, clientForm } from './client-form.ts';
import { goTo, sheet } from './sheet.ts';
import { examinedSection } from './sign-in/connection.ts';

const path = '/orgs/:org/applications';
const one = `${path}/:client`;

type Client = z.output<typeof clientView>;
type Key = z.output<typeof showClient.input>;

const listOf = ({ org }: { org: string }) => `/orgs/${encodeURIComponent(org)}/applications`;
const pageOf = (key: { org: string }, { clientId }: { clientId: string }) =>
  `${listOf(key)}/${clientId}`;

/** The pages of the applications that the members of an organization sign in to. */
export const applicationPages: Page[] = [
  viewPage(path, listClients, showList),
  page({
    path: `${path}/new`,
    access: accessTo(createClient),
    input: z.strictObject({ org: createClient.input.shape.org }),
    show: (visit, key) => showNew(visit, key),
  }),
  operationForm(`${path}/new`, createClient, {
    whole: clientFields,
    reply: (visit, client, key) =>
      client.clientSecret === null
        ? goTo(visit, pageOf(key, client), 'client-added')
        : showSecret(visit, key, client),
    refused: async (visit) => {
      const key = { org: visit.given['org'] ?? '' };
      if (!isSentAgain(visit)) return showNew(visit, key);
      // The page of the application in the list creates another secret.
      return showList(visit, await listClients(visit.ctx, parse(listClients.input, key)), key);
    },
  }),
  viewPage(one, showClient, showApplication),
  operationForm(one, changeClient, {
    whole: clientFields,
    reply: (visit, client, key) => goTo(visit, pageOf(key, client), 'client-changed'),
    refused: (visit) => showRefused(visit, 'settings'),
  }),
  operationForm(`${one}/test`, testClient, {
    reply: async (visit, { ok, message, steps, claims }, key) => {
      const client = await showClient(visit.ctx, { org: key.org, client: key.client });
      return sheet(
        visit,
        `Test of ${client.name}`,
        html`${examinedSection(visit, { ok, message, steps })}
${claims !== null && claimsSection(claims)}
<section aria-label="Test again">${testForm(visit, key, client)}
<p class="quiet"><a href="${pageOf(key, client)}">Back to ${client.name}</a></p></section>`,
      );
    },
    refused: (visit) => showRefused(visit, 'test'),
  }),
  ...endingPages(`${one}/rotate`, rotateClient, {
    act: 'New secret',
    back: one,
    reply: (visit, client, key) => showSecret(visit, key, client),
  }),
  ...endingPages(`${one}/remove`, removeClient, {
    act: 'Remove application',
    back: one,
    reply: (visit, _view, key) => goTo(visit, listOf(key), 'client-removed'),
  }),
];

async function showList(
  visit: Visit,
  { items, nextCursor }: Awaited<ReturnType<typeof listClients>>,
  { org }: { org: string },
): Promise<ShownPage> {
  const { slug, name } = await showOrganization(visit.ctx, { org });
  const at = listOf({ org: slug });
  return sheet(
    visit,
    `Applications of ${name}`,
    html`<section aria-label="Applications">
<p class="quiet">Members sign in to these applications with their account here.</p>
<p><a class="button small" href="${at}/new">Add an application</a></p>
${rows(
  items.map((client) => rowOf(slug, client)),
  'There is no application yet.',
)}</section>
${pageLinks(at, {}, { nextCursor, previousCursor: null })}`,
  );
}

function rowOf(slug: string, client: Client) {
  const { name, redirectUris, forwardAuthOrigins, project, role } = client;
  const [first] = [...redirectUris, ...forwardAuthOrigins];
  return {
    name,
    href: pageOf({ org: slug }, client),
    mark: client.suspendedAt === undefined ? undefined : badge('secret refused'),
    facts: [
      first === undefined ? '' : new URL(first).host,
      project === null
        ? 'For every member'
        : `For members of the project ${project} with the role ${role} or a higher one`,
    ],
  };
}

async function showNew(visit: Visit, { org }: { org: string }): Promise<ShownPage> {
  const { slug } = await showOrganization(visit.ctx, { org });
  const at = `${listOf({ org: slug })}/new`;
  return sheet(
    visit,
    'Add an application',
    html`<section aria-label="Settings">
<p class="quiet">The application must support OpenID Connect. Its documentation says which redirect URI to enter here. The next page says what to enter there.</p>
${clientForm(visit, at, { client: null, button: 'Add application' })}</section>`,
  );
}

/** The page of the application after the form was refused. */
async function showRefused(visit: Visit, form: 'settings' | 'test'): Promise<ShownPage> {
  const key = parse(showClient.input, { org: visit.given['org'], client: visit.given['client'] });
  return showApplication(visit, await showClient(visit.ctx, key), key, form);
}

async function showApplication(
  visit: Visit,
  client: Client,
  key: Key,
  form?: 'settings' | 'test',
): Promise<ShownPage> {
  const at = pageOf(key, client);
  const hasSecret = !client.public && client.redirectUris.length > 0;
  const { refusal: _, ...anew } = visit;
  return sheet(
    visit,
    client.name,
    html`${await entriesSection(visit, client, hasSecret && html`<p class="quiet">The secret was shown once. If it is lost, <a href="${at}/rotate">create a new one</a>.</p>`)}
<section aria-labelledby="settings"><h2 id="settings">Settings</h2>
${clientForm(form === 'settings' ? visit : anew, at, { client, button: 'Save' })}</section>
<section aria-labelledby="test"><h2 id="test">Test</h2>
${testForm(form === 'test' ? visit : anew, key, client)}</section>
<section aria-labelledby="ending"><h2 id="ending">Secret and removal</h2>
<div class="buttons">${hasSecret && endingLink(`${at}/rotate`, 'New secret')}${endingLink(`${at}/remove`, 'Remove application')}</div></section>`,
  );
}

async function showSecret(
  visit: Visit,
  key: { org: string },
  client: Client & { clientSecret: string | null },
): Promise<ShownPage> {
  const content = html`${await entriesSection(visit, client, html`<p>Copy the secret now: it is not shown again.</p>${entries([['Client secret', client.clientSecret ?? '']])}`)}
<p><a class="button" href="${pageOf(key, client)}">I have copied the secret</a></p>`;
  return { ...sheet(visit, client.name, content), once: true };
}

/** What an admin enters at the application, and `more` about the secret. */
async function entriesSection({ ctx }: Visit, client: Client, more: Html | false): Promise<Html> {
  const own = await viewMetadata(ctx, {});
  const suspended =
    client.suspendedAt !== undefined &&
    html`<p><strong>A backup was restored, so the secret is refused. Create a new one.</strong></p>`;
  const openId = html`${suspended}
${entries([
  ['Client ID', client.clientId],
  ['Issuer', client.issuer],
  ['Discovery document', client.discoveryUrl],
])}
${more}
<details><summary>For applications that do not read the discovery document</summary>
${entries([
  ['Authorization endpoint', own.authorization_endpoint],
  ['Token endpoint', own.token_endpoint],
  ['User info endpoint', own.userinfo_endpoint],
  ['Keys', own.jwks_uri],
  ['Sign-out endpoint', own.end_session_endpoint],
])}</details>`;
  const forward = html`<p>Your proxy asks this address about each request, and passes on the path <code>/.idctl/</code> of the application to the same server.</p>
${entries([['Forward auth', `${ctx.config.baseUrl}/auth/verify`]])}`;
  return html`<section aria-labelledby="entries"><h2 id="entries">What to enter at the application</h2>
${client.redirectUris.length > 0 && openId}
${client.forwardAuthOrigins.length > 0 && forward}</section>`;
}

function entries(of: [name: string, value: string][]): Html {
  return rows(
    of.map(([name, value]) => ({ name, more: html`<code class="secret">${value}</code>` })),
  );
}

function testForm(visit: Visit, key: { org: string }, client: Client): Html {
  return postForm(
    visit,
    `${pageOf(key, client)}/test`,
    html`${field(visit, { name: 'user', label: 'Member', type: 'email', note: 'Tries the sign-in of this person too, without signing them in.', autocomplete: 'off', optional: true, maxLength: 1000 })}
<button type="submit">Test</button>`,
  );
}

function claimsSection(claims: Record<string, unknown>): Html {
  const said = Object.entries(claims).map(([name, value]) => ({ name, text: claimText(value) }));
  return html`<section aria-labelledby="claims"><h2 id="claims">What the application learns about the person</h2>
${rows(said)}</section>`;
}

function claimText(value: unknown): string {
  const isList = typeof value === 'object' && value !== null;
  return isList ? Object.values(value).join(', ') : String(value);
}
