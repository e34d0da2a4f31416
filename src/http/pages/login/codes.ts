import { z } from 'zod';
import { type Html, html } from '../html.ts';
import type { ShownPage, Visit } from '../page.ts';
import { alert, codeField, postForm } from '../parts.ts';
import { type LoginPlace, linkTo } from './place.ts';

/** What a screen that asks for a mailed code says, and where its forms go. */
interface Asking {
  title: string;
  said: string;
  enterAt: string;
  button: string;
  /** Where another code is asked for. */
  againAt: string;
  /** What is asked for beside the code. */
  more?: Html;
}

/** The field that a screen has where the second factor is asked for. */
export const totpCode = z
  .string()
  .max(20)
  .transform((text) => text.replace(/\s/g, ''))
  .optional();

/** Asks for the code of a mail, which may or may not have been sent: that is told to its reader alone (security P7). */
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

/** The code of the mail, and once that was right the authenticator's beside it. */
function codes(visit: Visit): Html {
  const label = 'Six-digit code from the mail';
  const asked = /^second_factor_/.test(visit.refusal?.code ?? '');
  if (!asked) return codeField(visit, 'code', { label });
  return html`${codeField(visit, 'code', { label, value: visit.given['code'], first: false })}
${codeField(visit, 'totpCode', { label: 'Six-digit code of your authenticator' })}`;
}
