import type { z } from 'zod';
import type { domainView } from '../../../../services/tenancy/domains/domain.ts';
import { type Html, html } from '../../html.ts';
import type { Visit } from '../../page.ts';
import { field, postForm } from '../../parts.ts';
import { badge, button, endingLink, rows } from '../../rows.ts';
import { isBehindLink, pathOf } from './path.ts';

type Domain = z.output<typeof domainView>;

/** The domains of the organization, with the record that verifies each. */
export function domainsSection(visit: Visit, domains: Domain[]): Html {
  const at = pathOf(visit);
  const shown = domains.map((domain) => rowOf(visit, `${at}/domains`, domain));
  return html`<section aria-labelledby="domains"><h2 id="domains">Domains</h2>
<p class="quiet">People with an address on a verified domain sign in through your provider or directory. To verify a domain, add a record to its DNS.</p>
${rows(shown, 'No domain has been added.')}
${postForm(visit, `${at}/domains`, html`${field(visit, { name: 'domain', label: 'Your e-mail domain', note: 'The part after the @ of your addresses, such as acme.com.', autocomplete: 'off', verbatim: true, maxLength: 253 })}<button type="submit">Add domain</button>`)}</section>`;
}

function rowOf(visit: Visit, at: string, { domain, state, txtRecord, verifiedBy }: Domain) {
  const of = `${at}/${encodeURIComponent(domain)}`;
  const remove = !isBehindLink(visit) && endingLink(`${of}/remove`, 'Remove');
  if (state === 'Verified') {
    const facts = [verifiedBy === 'operator' && 'Verified by the operator of this service.'];
    return { name: domain, mark: badge('verified'), facts, action: remove };
  }
  const more = html`<p>Add a TXT record to the DNS of ${domain}, then check it. A change of the DNS can take an hour.</p>
<p class="quiet">Name</p><p><code class="secret">@</code></p>
<p class="quiet">Value</p><p><code class="secret">${txtRecord.value}</code></p>`;
  const check = button(visit, `${of}/verify`, 'Check now');
  return {
    name: domain,
    mark: badge('not verified'),
    more,
    action: html`<div class="buttons">${check}${remove}</div>`,
  };
}
