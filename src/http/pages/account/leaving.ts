import { type Html, html } from '../html.ts';
import { postForm } from '../parts.ts';
import { type Described, type Draft, section } from './section.ts';

/** The section in which people download their data and delete their account. */
export function leavingSection(draft: Draft, { address }: Described): Html {
  const button = html`<button class="danger" type="submit">Delete your account</button>`;
  const content =
    address === 'managed'
      ? html`<p>An organization manages your address. Ask the administrator of this site to delete your account.</p>`
      : html`<p>The next page says what ends with your account, and asks again.</p>
${postForm(draft, '/account/leaving#leaving', button)}`;
  return section(
    draft,
    'leaving',
    html`<p><a href="/account/export" download="idctl-account.json">Download your data</a>: your account, and what is stored about it, in one file.</p>
${content}`,
  );
}
