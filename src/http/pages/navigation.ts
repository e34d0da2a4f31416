import { type Html, html } from './html.ts';

/** Other ways on from a page: links and small forms below its content. */
export function otherLinks(...ways: Html[]): Html {
  return html`<nav class="below" aria-label="Other ways">${ways}</nav>`;
}

interface Organization {
  slug: string;
  name: string;
}

/** The links between the pages of a signed-in person: the account, then each organization. */
export function navigation(organizations: Organization[], here: string): Html {
  const links = [
    { href: '/', text: 'Your account' },
    ...organizations.map(({ slug, name }) => ({ href: `/orgs/${slug}/people`, text: name })),
  ];
  return html`<nav class="parts" aria-label="Pages"><ul>${links.map(
    ({ href, text }) =>
      html`<li><a href="${href}"${href === here && html` aria-current="page"`}>${text}</a></li>`,
  )}</ul></nav>`;
}
