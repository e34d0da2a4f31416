import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { ShownPage, Visit } from '../page.ts';
import { button } from '../rows.ts';

/** A page of an organization: its heading, with the button to sign out, and its content. */
export function sheet(visit: Pick<Visit, 'token'>, title: string, content: Html): ShownPage {
  return {
    title,
    wide: true,
    main: html`<div class="head"><h1>${title}</h1>
${button(visit, '/account/sign-out', 'Sign out')}</div>
${content}`,
  };
}
