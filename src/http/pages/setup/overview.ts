import { z } from 'zod';
import { parse } from '../../../input.ts';
import { createScimToken, showScimToken } from '../../../services/provisioning/scim/token.ts';
import { listDomains } from '../../../services/tenancy/domains/operations.ts';
import { showLdap } from '../../../services/tenancy/ldap/operations.ts';
import { showOrganization } from '../../../services/tenancy/organizations/operations.ts';
import { finishSetup } from '../../../services/tenancy/setup-links/open.ts';
import { setupLinkInvalid } from '../../../services/tenancy/setup-links/setup-link.ts';
import { providerOf } from '../../../services/tenancy/sso/connection.ts';
import { showSso } from '../../../services/tenancy/sso/operations.ts';
import { minuteText } from '../../../text/dates.ts';
import { setupCookie } from '../../cookies.ts';
import { endingPages } from '../ending.ts';
import { type Html, html } from '../html.ts';
import { sheet } from '../organization/sheet.ts';
import { domainsSection } from '../organization/sign-in/domain-list.ts';
import { domainPages } from '../organization/sign-in/domains.ts';
import { ifThere } from '../organization/sign-in/if-there.ts';
import { ldapPages } from '../organization/sign-in/ldap.ts';
import { connectionRow } from '../organization/sign-in/overview.ts';
import { setupPath } from '../organization/sign-in/path.ts';
import { ssoPages } from '../organization/sign-in/sso.ts';
import { accessTo, operationForm, type Page, page, type ShownPage, type Visit } from '../page.ts';
import { badge, button, rows } from '../rows.ts';
import { shownOnce } from '../shown-once.ts';

const key = z.strictObject({ org: showOrganization.input.shape.org });
const shown = key.extend({ done: z.string().max(50).optional() });
const at = setupPath;

/** The pages behind a setup link. Only the cookie of the link opens them. */
export const setupPages: Page[] = [
  page({
    path: at,
    access: accessTo(showOrganization),
    input: shown,
    show: (visit) => showSetup(visit),
  }),
  // After a refused form, the address bar shows the path of the form.
  page({
    path: `${at}/domains`,
    access: accessTo(listDomains),
    input: key,
    show: (visit) => showSetup(visit),
  }),
  ...domainPages(at, showSetup),
  ...ssoPages(at),
  ...ldapPages(at),
  page({
    path: `${at}/scim`,
    access: accessTo(showScimToken),
    input: key,
    show: (visit) => showScim(visit),
  }),
  operationForm(`${at}/scim/token`, createScimToken, {
    reply: (_visit, { token, baseUrl }) =>
      shownOnce('Your SCIM token', {
        of: `the token for ${baseUrl}`,
        secret: token,
        back: `${at}/scim`,
      }),
    refused: showScim,
  }),
  ...endingPages(`${at}/done`, finishSetup, {
    act: 'Finish',
    back: at,
    reply: (_visit, { organization }) => ({
      title: 'Thank you',
      main: html`<h1>Thank you</h1>
<p>The setup link has ended. What you set up for ${organization} stays.</p>
<p>An owner of ${organization} has to approve a new connection before owners can sign in through it.</p>`,
      cookies: [setupCookie('', 0)],
    }),
  }),
];

async function showSetup(visit: Visit): Promise<ShownPage> {
  const { ctx, given } = visit;
  if (ctx.actor.kind !== 'setupLink') throw setupLinkInvalid();
  const here = parse(key, { org: given['org'] });
  const { parts } = ctx.actor;
  const { name } = await showOrganization(ctx, here);
  const sections: Html[] = [];
  if (parts.includes('domain'))
    sections.push(domainsSection(visit, (await listDomains(ctx, { ...here, limit: 200 })).items));
  const connections = [
    ...(parts.includes('sso') ? [await ssoRow(visit, here)] : []),
    ...(parts.includes('ldap') ? [await ldapRow(visit, here)] : []),
    ...(parts.includes('scim') ? [await scimRow(visit, here)] : []),
  ];
  if (connections.length > 0)
    sections.push(html`<section aria-labelledby="connections"><h2 id="connections">Connections</h2>
${rows(connections)}</section>`);
  return sheet(
    visit,
    `Set up sign-in for ${name}`,
    html`<p class="quiet">You can close this page and open it again in this browser. When you have set everything up, select "I am done".</p>
${sections}`,
  );
}

type Key = z.output<typeof key>;

async function ssoRow({ ctx }: Visit, here: Key) {
  const sso = await ifThere(showSso(ctx, here));
  return connectionRow('sso', sso && { ...sso, to: providerOf(sso) }, `${at}/sso`);
}

async function ldapRow({ ctx }: Visit, here: Key) {
  const ldap = await ifThere(showLdap(ctx, here));
  return connectionRow('ldap', ldap && { ...ldap, to: ldap.uri }, `${at}/ldap`);
}

const scimText = 'Your provider creates and deactivates accounts, by SCIM.';

async function scimRow({ ctx }: Visit, here: Key) {
  const { configured } = await showScimToken(ctx, here);
  const mark = badge(configured ? 'connected' : 'not connected');
  return { name: 'Provisioning', href: `${at}/scim`, mark, text: scimText };
}

async function showScim(visit: Visit): Promise<ShownPage> {
  const here = parse(key, { org: visit.given['org'] });
  const { configured, baseUrl, createdAt, lastUsedAt } = await showScimToken(visit.ctx, here);
  const facts = [
    createdAt !== null && `Created: ${minuteText(createdAt)}`,
    `Last used: ${lastUsedAt === null ? 'never' : minuteText(lastUsedAt)}`,
  ];
  const create = html`<p>Create the token, then enter it at your provider. It is shown once.</p>
${button(visit, `${at}/scim/token`, 'Create token')}`;
  return sheet(
    visit,
    'Provisioning',
    html`<section aria-labelledby="scim"><h2 id="scim">SCIM</h2>
<p>${scimText}</p>
<p class="quiet">Base URL</p><p><code class="secret">${baseUrl}</code></p>
${configured ? rows([{ name: 'Token', mark: badge('created'), facts, text: 'Only an owner can replace it.' }]) : create}</section>
<p><a href="${at}">Back</a></p>`,
  );
}
