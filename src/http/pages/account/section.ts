import type { listSessions } from '../../../services/people/sessions/operations.ts';
import type { listTokens } from '../../../services/people/tokens/operations.ts';
import type { describeAccount } from '../../../services/signin/account-page.ts';
import type { showMe } from '../../../services/tenancy/profile/operations.ts';
import { type Html, html } from '../html.ts';
import type { Visit } from '../page.ts';
import { alert, notice } from '../parts.ts';

/** The person whose account the page shows. */
export type Me = Awaited<ReturnType<typeof showMe>>;
export type ShownSession = Awaited<ReturnType<typeof listSessions>>['items'][number];
export type ShownToken = Awaited<ReturnType<typeof listTokens>>['items'][number];

/** Facts that the page shows in addition to the API's views. */
export type Described = Awaited<ReturnType<typeof describeAccount>>;

/** The state of a section: its refused input, or the notice of what was done in it. */
export type Draft = Pick<Visit, 'ctx' | 'token' | 'given' | 'refusal'> & { notice?: string };

const titles = {
  profile: 'Profile',
  password: 'Password',
  'two-factor': 'Two-factor authentication',
  'sign-in': 'Other ways to sign in',
  sessions: 'Where you are signed in',
  tokens: 'Access tokens',
  organizations: 'Organizations',
};

/** The sections of the account page; a form names its section. */
export type SectionName = keyof typeof titles;

/** A section of the account page, with its own notice and refusal. */
export function section(draft: Draft, name: SectionName, content: Html): Html {
  return html`<section aria-labelledby="${name}">
<h2 id="${name}">${titles[name]}</h2>
${notice(draft.notice)}${alert(draft)}
${content}
</section>`;
}
