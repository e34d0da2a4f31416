import type { showMe } from '../../../services/accounts/me.ts';
import type { listSessions } from '../../../services/sessions/list.ts';
import type { listTokens } from '../../../services/tokens/list.ts';
import { type Html, html } from '../html.ts';
import type { Visit } from '../page.ts';
import { alert } from '../parts.ts';

/** Whose account it is. */
export type Me = Awaited<ReturnType<typeof showMe>>;
export type Session = Awaited<ReturnType<typeof listSessions>>['items'][number];
export type Token = Awaited<ReturnType<typeof listTokens>>['items'][number];

/** What a section's forms are drawn with: what was typed and refused, if it was here. */
export type Draft = Pick<Visit, 'ctx' | 'token' | 'given' | 'refusal'>;

/** The sections of the account page, by which their forms are known too. */
export type SectionName = 'profile' | 'password' | 'two-factor' | 'sessions' | 'tokens' | 'organizations';

/** A section of the account page; what was refused in it is said in it. */
export function section(draft: Draft, name: SectionName, title: string, content: Html): Html {
  return html`<section aria-labelledby="${name}">
<h2 id="${name}">${title}</h2>
${alert(draft)}
${content}
</section>`;
}
