import { z } from 'zod';
import { type Html, html } from '../html.ts';
import type { ShownPage, Visit } from '../page.ts';
import { alert, codeField, postForm } from '../parts.ts';
import { type LoginPlace, linkTo } from './place.ts';

/** The texts of a screen that asks for a mailed code, and the targets of its forms. */
interface Asking {
  title: string;
  said: string;
  enterAt: string;
  button: string;
  /** The path that sends another code. */
  againAt: string;
  /** Further fields next to the code. */
  more?: Html;
}

/** The field for the code of the second factor. */
export const totpCode = z
  .string()
  .max(20)
  .transform((text) => text.replace(/\s/g, ''))
  .optional();

/** Asks for a mailed code. Only the mailbox tells whether a mail was sent (security P7). */
export function askMailedCode(
  visit: Visit,
  { identifier, returnTo }: LoginPlace,
  asking: Asking,
): ShownPage {
  const along = { email: identifier, returnTo };
  const content = html`${codes(visit)}
${asking.more}
<button type="submit">${asking.button}</button>`;
  return {
    title: asking.title,
    main: html`<h1>${asking.title}</h1>
<p>${asking.said} <strong class="address">${identifier}</strong></p>
${alert(visit)}
${postForm(visit, asking.enterAt, content, along)}
<nav class="below" aria-label="Other ways">
${postForm(visit, asking.againAt, html`<button class="link" type="submit">Send another code</button>`, along)}
<a href="${linkTo('/login', { returnTo })}">Start again</a></nav>`,
  };
}

/** The code from the mail; once it was right, the authenticator's code as well. */
function codes(visit: Visit): Html {
  const label = 'Six-digit code from the mail';
  const asked = /^second_factor_/.test(visit.refusal?.code ?? '');
  if (!asked) return codeField(visit, 'code', { label });
  return html`${codeField(visit, 'code', { label, value: visit.given['code'], first: false })}
${codeField(visit, 'totpCode', { label: 'Six-digit code of your authenticator' })}`;
}
