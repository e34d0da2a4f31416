import { type Html, html } from '../html.ts';
import { otherLinks } from '../navigation.ts';
import type { ShownPage, Visit } from '../page.ts';
import { alert, codeField, field, postForm } from '../parts.ts';
import type { Described, Draft } from './section.ts';

const path = '/account/email';

/** The address of the account, and how the person can change it. */
export function emailPart(draft: Draft, email: string | null, { address }: Described): Html {
  return html`<p class="fact"><span class="quiet">E-mail address</span> ${email ?? 'none'}</p>
${address === 'changeable' ? changeForm(draft) : html`<p class="quiet">${obstacles[address]}</p>`}`;
}

const obstacles: Record<Exclude<Described['address'], 'changeable'>, string> = {
  managed: 'An organization manages your e-mail address, so it cannot be changed here.',
  'no mail':
    'You cannot change your e-mail address here, because this service does not send mail. Ask the person who runs this service, such as your IT department: they can set up mail, or create a new account with the new address.',
};

function changeForm(draft: Draft): Html {
  const given = draft.given['email'] !== undefined;
  const content = html`${field(draft, { id: 'new-email', name: 'email', label: 'New e-mail address', type: 'email', autocomplete: 'email', verbatim: true, note: 'We send a code to this address. After the change, you are signed out everywhere else.' })}
<button type="submit">Send me a code</button>`;
  return html`<details${draft.refusal && given && html` open`}><summary>Change your e-mail address</summary>${postForm(draft, `${path}#profile`, content)}</details>`;
}

/** Asks for the mailed code. The page is the same if the address is taken (security P18). */
export function askEmailCode(visit: Visit): ShownPage {
  const along = { email: visit.given['email'] };
  const content = html`${codeField(visit, 'code', { label: 'Six-digit code from the mail' })}
<button type="submit">Change address</button>`;
  const again = html`<button class="link" type="submit">Send another code</button>`;
  return {
    title: 'Confirm your new address',
    main: html`<h1>Confirm your new address</h1>
<p>If this address is free, we sent it a code: <strong class="address">${along.email}</strong></p>
${alert(visit)}
${postForm(visit, `${path}/confirm`, content, along)}
${otherLinks(postForm(visit, path, again, along), html`<a href="/#profile">Not now</a>`)}`,
  };
}
