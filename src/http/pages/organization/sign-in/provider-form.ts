import { z } from 'zod';
import { parse } from '../../../../input.ts';
import { listDomains } from '../../../../services/tenancy/domains/operations.ts';
import { showOrganization } from '../../../../services/tenancy/organizations/operations.ts';
import { providerOf } from '../../../../services/tenancy/sso/connection.ts';
import { changeSso, showSso } from '../../../../services/tenancy/sso/operations.ts';
import { guidesCheckedOn } from '../../../../services/tenancy/sso/providers.ts';
import { testSso } from '../../../../services/tenancy/sso/test.ts';
import { ssoWords } from '../../../../services/tenancy/sso/words.ts';
import { type Html, html } from '../../html.ts';
import { accessTo, form, type Page, page, type ShownPage, type Visit } from '../../page.ts';
import { choice, field, postForm } from '../../parts.ts';
import { rows } from '../../rows.ts';
import { goTo, sheet } from '../sheet.ts';
import { type Examined, examinedSection, notSaved, saveAnywayButton } from './connection.ts';
import { ifThere } from './if-there.ts';
import { pathOf } from './path.ts';
import type { Guide, Kind, Place, ProviderForm, Stored } from './provider-kind.ts';
import { oidcForm } from './provider-oidc.ts';
import { samlForm } from './provider-saml.ts';
import { findFault } from './switching.ts';

// The form for what a provider shows, with the steps at the provider. Each kind of connection has its
// own.

const at = (visit: Visit) => `${pathOf(visit)}/sso`;
const { org } = showSso.input.shape;

const keyOf = ({ given }: Visit) => parse(z.strictObject({ org }), { org: given['org'] });
const { values: protocols } = ssoWords.kind.page;

/** The end of the path of each kind's form. */
export const formPath = { oidc: oidcForm.path, saml: samlForm.path } satisfies Record<Kind, string>;

/** The kind that the connection does not have. */
export const otherKind = { oidc: 'saml', saml: 'oidc' } as const;

/** The pages with the forms, and what they save. `of` is the path of the connection. */
export function providerFormPages(of: string): Page[] {
  return [...formPages(of, oidcForm), ...formPages(of, samlForm)];
}

function formPages<Input extends z.ZodObject>(of: string, its: ProviderForm<Input>): Page[] {
  const path = `${of}/${its.path}`;
  const access = accessTo(changeSso);
  return [
    page({
      ...{ path, access },
      input: z.strictObject({ org, provider: its.provider.optional() }),
      show: (visit) => askSettings(visit, its),
    }),
    form({
      ...{ path, access, input: its.input, whole: its.whole, bytes: its.bytes },
      act: async (visit, input) => {
        const { ctx, given } = visit;
        const stored = await ifThere(showSso(ctx, keyOf(visit)));
        const settings = its.settingsOf(input, ownOf(its, stored));
        const change = parse(changeSso.input, { ...keyOf(visit), kind: its.kind, ...settings });
        // The person has to see first what is replaced.
        const isSeen =
          stored === null || stored.kind === its.kind || given['replaces'] === stored.kind;
        if (!isSeen) return askSettings({ ...visit, keeps: true }, its);
        const { enabled } = await visit.rehearse(changeSso, change);
        const { emailDomain: _, ...tested } = change;
        const untested = given['untested'] === 'true';
        const fault = await findFault(visit, { enabled, untested }, () =>
          testSso(ctx, parse(testSso.input, tested)),
        );
        if (fault !== null) return askSettings({ ...visit, keeps: true }, its, fault);
        await changeSso(ctx, change);
        return goTo(visit, at(visit), 'connection-saved');
      },
      refused: (visit) => askSettings(visit, its),
    }),
  ];
}

function ownOf({ kind }: { kind: Kind }, stored: Stored): Stored {
  return stored?.kind === kind ? stored : null;
}

/** The choice of a protocol, if there is no connection. */
export function chooseKind(visit: Visit): ShownPage {
  const links = [oidcForm, samlForm].map(({ kind, path, when }) => ({
    name: protocols[kind],
    href: `${at(visit)}/${path}`,
    text: when,
  }));
  return sheet(
    visit,
    'Connect your provider',
    html`<section aria-labelledby="choose"><h2 id="choose">How does your provider sign people in?</h2>
${rows(links)}</section>
<p><a href="${pathOf(visit)}">All ways to sign in</a></p>`,
  );
}

/** The choice of a provider. */
async function chooseProvider(
  visit: Visit,
  { kind, path, guides }: Pick<ProviderForm, 'kind' | 'path' | 'guides'>,
  stored: Stored,
): Promise<ShownPage> {
  const { name } = await showOrganization(visit.ctx, keyOf(visit));
  const links = Object.entries(guides).map(([of, { title }]) => ({
    name: title,
    href: `${at(visit)}/${path}?provider=${of}`,
  }));
  return sheet(
    visit,
    `Connect by ${protocols[kind]}`,
    html`${replacingSection(stored)}
<section aria-labelledby="choose"><h2 id="choose">Which provider do the people of ${name} use?</h2>
${rows(links)}</section>
<p><a href="${at(visit)}">Back</a></p>`,
  );
}

/** What a connection of the other kind loses. */
function replacingSection(stored: Stored): Html | false {
  if (stored === null) return false;
  return html`<section aria-labelledby="replaces"><h2 id="replaces">This replaces the ${protocols[stored.kind]} connection</h2>
<p>When you save, the connection to ${providerOf(stored)} is deleted, with its settings.</p>
<p>The accounts stay. But people who have signed in through it are refused until an owner or the operator links them to the new provider.</p></section>`;
}

type Draft = Visit & { keeps?: boolean };

/** The steps at the provider, and the form for what it shows. */
async function askSettings<Input extends z.ZodObject>(
  asked: Draft,
  its: ProviderForm<Input>,
  test?: Examined,
): Promise<ShownPage> {
  const stored = await ifThere(showSso(asked.ctx, keyOf(asked)));
  const own = ownOf(its, stored);
  const replaced = own === null ? stored : null;
  const chosen = its.provider.safeParse(asked.given['provider']);
  if (!chosen.success && own === null) return chooseProvider(asked, its, replaced);
  const name = chosen.data ?? 'other';
  const guide = its.guides[name];
  if (guide === undefined) throw new Error(`${name} has no steps`);
  const { id } = await showOrganization(asked.ctx, keyOf(asked));
  const places = its.placesOf(asked.ctx, id, own);
  const visit = { ...asked, labels: { kind: ssoWords.kind.page.label, ...its.labelsOf(guide) } };
  const called = name === 'other' ? 'your provider' : guide.title;
  const content = html`${its.fieldsOf(visit, { name, guide, own })}
${await domainField(visit, stored)}
<button type="submit">${replaced === null ? 'Save' : 'Replace the connection'}</button>${test && saveAnywayButton(visit)}`;
  const along = { provider: name, replaces: replaced?.kind };
  return sheet(
    visit,
    own === null ? `Connect ${called}` : 'Change the provider',
    html`${test && examinedSection(visit, test, notSaved)}
${replacingSection(replaced)}
${stepsSection(called, guide, places)}
<section aria-labelledby="values"><h2 id="values">What ${called} shows</h2>
${postForm(visit, `${at(visit)}/${its.path}`, content, along)}</section>
<p><a href="${at(visit)}${own === null && `/${its.path}`}">Back</a></p>`,
  );
}

function stepsSection(called: string, guide: Guide, places: Place[]): Html {
  const { steps, groups, source } = guide;
  const host = new URL(source).hostname;
  const filled = (step: string) =>
    places.reduce((text, { name, value }) => text.replaceAll(`{${name}}`, value), step);
  return html`<section aria-labelledby="steps"><h2 id="steps">At ${called}</h2>
${placesList(places)}
<ol>${steps.map((step) => html`<li>${marked(filled(step))}</li>`)}</ol>
<p>Groups: ${marked(groups)}</p>
<p class="quiet">From the documentation at <a href="${source}" rel="noreferrer">${host}</a>, as of ${guidesCheckedOn}. Names there may have changed since.</p></section>`;
}

/** What to enter at the provider, to copy. */
export function placesList(places: Place[]): Html[] {
  return places.map(
    ({ label, value }) =>
      html`<p class="quiet">${label}</p><p><code class="secret">${value}</code></p>`,
  );
}

/** A text with `**bold**` and `` `code` `` parts. */
function marked(text: string): Html[] {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part) => {
    if (part.startsWith('**')) return html`<strong>${part.slice(2, -2)}</strong>`;
    return part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>` : html`${part}`;
  });
}

/** The e-mail domain of the people: one of the organization's, or typed if it has none. */
async function domainField(visit: Draft, stored: Stored): Promise<Html> {
  const { items } = await listDomains(visit.ctx, { ...keyOf(visit), limit: 200 });
  const names = new Set([
    ...items.map(({ domain }) => domain),
    ...(stored?.emailDomain == null ? [] : [stored.emailDomain]),
  ]);
  const note = 'People with an address on this domain sign in through the provider.';
  const of = { name: 'emailDomain', label: ssoWords.emailDomain.label, note };
  const value = stored?.emailDomain;
  if (names.size > 0) {
    const pending = new Set(items.flatMap((one) => (one.state === 'Pending' ? [one.domain] : [])));
    const shown = (name: string) => (pending.has(name) ? `${name} (not verified yet)` : name);
    const options = Object.fromEntries([...names].map((name) => [name, shown(name)]));
    return choice(visit, { ...of, options, value });
  }
  return field(visit, { ...of, autocomplete: 'off', verbatim: true, maxLength: 253, value });
}
