import { z } from 'zod';
import { parse } from '../../../../input.ts';
import { listDomains } from '../../../../services/tenancy/domains/operations.ts';
import { showOrganization } from '../../../../services/tenancy/organizations/operations.ts';
import { changeSso, showSso } from '../../../../services/tenancy/sso/operations.ts';
import {
  guidedProviders,
  guidesCheckedOn,
  issuerFrom,
  type ProviderName,
  providers,
} from '../../../../services/tenancy/sso/providers.ts';
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
import { findFault } from './switching.ts';

// The form for what a provider shows, with the steps at the provider.

const at = (visit: Visit) => `${pathOf(visit)}/sso`;
const { org } = showSso.input.shape;
const provider = z.enum([...guidedProviders, 'other']);
/** The issuer, by the name of the field from which it follows. */
const asField = z.object({ providerValue: changeSso.input.shape.issuer });

type Stored = Awaited<ReturnType<typeof showSso>> | null;

const keyOf = ({ given }: Visit) => parse(z.strictObject({ org }), { org: given['org'] });

/** The page with the form, and what it saves. `of` is the path of the connection. */
export function providerFormPages(of: string): Page[] {
  return [
    page({
      path: `${of}/set`,
      access: accessTo(changeSso),
      input: z.strictObject({ org, provider: provider.optional() }),
      show: (visit) => askSettings(visit),
    }),
    form({
      path: `${of}/set`,
      access: accessTo(changeSso),
      input: z.strictObject({
        org,
        provider,
        providerValue: z.string().max(500).optional(),
        emailDomain: z.string().max(300),
        clientId: z.string().max(500),
        clientSecret: z.string().max(2000).optional(),
        untested: z.boolean().optional(),
      }),
      act: async (visit, { provider: name, providerValue, untested, ...given }) => {
        const { ctx } = visit;
        const issuer = issuerFrom(name, providerValue, 'providerValue');
        parse(asField, { providerValue: issuer });
        const input = parse(changeSso.input, { ...withoutSpaces(given), issuer });
        const { enabled } = await visit.rehearse(changeSso, input);
        const { emailDomain: _, ...tested } = input;
        const fault = await findFault(visit, { enabled, untested }, () =>
          testSso(ctx, parse(testSso.input, tested)),
        );
        if (fault !== null) return askSettings(visit, fault);
        await changeSso(ctx, input);
        return goTo(visit, at(visit), 'connection-saved');
      },
      refused: (visit) => askSettings(visit),
    }),
  ];
}

/** The client as typed or pasted, without the spaces around it. */
function withoutSpaces<Given extends { clientId: string; clientSecret?: string | undefined }>(
  given: Given,
): Given {
  // Spaces alone are refused, not taken as empty.
  return {
    ...given,
    clientId: given.clientId.trim() || given.clientId,
    clientSecret: given.clientSecret?.trim() || given.clientSecret,
  };
}

/** The choice of a provider. */
export async function chooseProvider(visit: Visit): Promise<ShownPage> {
  const here = keyOf(visit);
  const { name } = await showOrganization(visit.ctx, here);
  const links = Object.entries(providers).map(([of, { title }]) => ({
    name: title,
    href: `${at(visit)}/set?provider=${of}`,
  }));
  return sheet(
    visit,
    'Connect your provider',
    html`<section aria-labelledby="choose"><h2 id="choose">Which provider do the people of ${name} use?</h2>
${rows(links)}</section>
<p><a href="${pathOf(visit)}">All ways to sign in</a></p>`,
  );
}

/** The steps at the provider, and the form for what it shows. */
async function askSettings(asked: Visit, test?: Examined): Promise<ShownPage> {
  const here = keyOf(asked);
  const stored = await ifThere(showSso(asked.ctx, here));
  const chosen = provider.safeParse(asked.given['provider']);
  if (!chosen.success && stored === null) return chooseProvider(asked);
  const name = chosen.data ?? 'other';
  const { title, value } = providers[name];
  const labels = { providerValue: value?.label ?? title };
  const visit = { ...asked, labels, keeps: test !== undefined };
  return sheet(
    visit,
    stored === null ? `Connect ${calledIn(name)}` : 'Change the provider',
    html`${test && examinedSection(visit, test, notSaved)}
${stepsSection(visit, name, stored)}
<section aria-labelledby="values"><h2 id="values">What ${calledIn(name)} shows</h2>
${await settingsForm(visit, name, { stored, test })}</section>
<p><a href="${at(visit)}">Back</a></p>`,
  );
}

/** The provider's name within a sentence. */
function calledIn(name: ProviderName): string {
  return name === 'other' ? 'your provider' : providers[name].title;
}

function stepsSection({ ctx }: Visit, name: ProviderName, stored: Stored): Html {
  const { steps, groups, source } = providers[name];
  const uri = stored?.redirectUri ?? `${ctx.config.baseUrl}/auth/sso/callback`;
  const host = new URL(source).hostname;
  return html`<section aria-labelledby="steps"><h2 id="steps">At ${calledIn(name)}</h2>
<p class="quiet">Redirect URI</p><p><code class="secret">${uri}</code></p>
<ol>${steps.map((step) => html`<li>${marked(step.replace('{redirectUri}', uri))}</li>`)}</ol>
<p>Groups: ${marked(groups)}</p>
<p class="quiet">From the documentation at <a href="${source}" rel="noreferrer">${host}</a>, as of ${guidesCheckedOn}. Names there may have changed since.</p></section>`;
}

/** A text with `**bold**` and `` `code` `` parts. */
function marked(text: string): Html[] {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part) => {
    if (part.startsWith('**')) return html`<strong>${part.slice(2, -2)}</strong>`;
    return part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>` : html`${part}`;
  });
}

async function settingsForm(
  visit: Visit,
  name: ProviderName,
  { stored, test }: { stored: Stored; test: Examined | undefined },
): Promise<Html> {
  const { value } = providers[name];
  const asked =
    value &&
    field(visit, {
      ...{ name: 'providerValue', label: value.label, note: value.note },
      ...{ autocomplete: 'off', verbatim: true, maxLength: 500 },
      value: name === 'other' ? stored?.issuer : undefined,
    });
  const isStored = stored !== null;
  const secretNote = isStored
    ? 'Without it, the stored one stays. A new provider or client ID needs it again.'
    : 'It is stored encrypted, and not shown again.';
  const content = html`${asked}
${field(visit, { name: 'clientId', label: ssoWords.clientId.label, note: 'The ID of the application that you created there.', autocomplete: 'off', verbatim: true, maxLength: 500, value: stored?.clientId })}
${field(visit, { name: 'clientSecret', label: ssoWords.clientSecret.label, note: secretNote, type: 'password', autocomplete: 'off', maxLength: 2000, ...(isStored && { optional: true }) })}
${await domainField(visit, stored)}
<button type="submit">Save</button>${test && saveAnywayButton(visit)}`;
  return postForm(visit, `${at(visit)}/set`, content, { provider: name });
}

/** The e-mail domain of the people: one of the organization's, or typed if it has none. */
async function domainField(visit: Visit, stored: Stored): Promise<Html> {
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
