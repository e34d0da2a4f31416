import { type Html, html } from '../html.ts';
import type { Shown, Visit } from '../page.ts';
import { alert, codeField, postForm } from '../parts.ts';
import { linkTo, type Place } from './place.ts';

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

/** Asks for the code of a mail, which may or may not have been sent: that is told to its reader alone (security P7). */
export function askMailedCode(visit: Visit, { identifier, returnTo }: Place, asking: Asking): Shown {
  const along = { email: identifier, returnTo };
  return {
    title: asking.title,
    main: html`<h1>${asking.title}</h1>
<p>${asking.said} <strong class="address">${identifier}</strong></p>
${alert(visit)}
${postForm(
  visit,
  asking.enterAt,
  html`${codeField(visit, 'code', { label: 'Six-digit code from the mail' })}
${asking.more}
<button type="submit">${asking.button}</button>`,
  along,
)}
<nav class="below" aria-label="Other ways">
${postForm(visit, asking.againAt, html`<button class="link" type="submit">Send another code</button>`, along)}
<a href="${linkTo('/login', { returnTo })}">Start again</a></nav>`,
  };
}
