import { type Html, html } from '../html.ts';
import { field, postForm } from '../parts.ts';
import { type Draft, type Me, section } from './section.ts';

/** Name and language. */
export function profileSection(draft: Draft, { email, name, locale }: Me): Html {
  const note = 'A tag such as en or de-AT, for the programs that you use with this account.';
  const content = html`<p class="fact"><span class="quiet">E-mail address</span> ${email ?? 'none'}</p>
${field(draft, { name: 'name', label: 'Name', autocomplete: 'name', value: name, maxLength: 200 })}
${field(draft, { name: 'locale', label: 'Language', autocomplete: 'language', value: locale, note, verbatim: true, maxLength: 35 })}
<button type="submit">Save</button>`;
  return section(draft, 'profile', postForm(draft, '/account/profile#profile', content));
}
