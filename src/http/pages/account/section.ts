import type { listSessions } from '../../../services/people/sessions/operations.ts';
import type { listTokens } from '../../../services/people/tokens/operations.ts';
import type { describeAccount } from '../../../services/signin/account-page.ts';
import { type Html, html } from '../html.ts';
import type { Visit } from '../page.ts';
import { alert, notice } from '../parts.ts';
import { confirmForm, isConfirming, type ToConfirm } from './confirm.ts';

export type ShownSession = Awaited<ReturnType<typeof listSessions>>['items'][number];
export type ShownToken = Awaited<ReturnType<typeof listTokens>>['items'][number];

/** Facts that only the account page shows; the API views do not have them. */
export type Described = Awaited<ReturnType<typeof describeAccount>>;

/** The person whose account the page shows. */
export type Me = Described['me'];

/** The state of a section: refused input, or a notice; and how the person confirms, if asked. */
export type Draft = Pick<Visit, 'ctx' | 'token' | 'given' | 'refusal'> & {
  notice?: string;
  toConfirm?: ToConfirm;
  /** The path of the refused form. */
  refused?: string | undefined;
};

/** The titles of the sections, by the names that links use. */
export const sectionTitles = {
  connections: 'Connections to approve',
  profile: 'Profile',
  password: 'Password',
  passkeys: 'Passkeys',
  'sign-in': 'Other ways to sign in',
  'two-factor': 'Two-factor authentication',
  'recovery-codes': 'Recovery codes',
  sessions: 'Where you are signed in',
  applications: 'Applications',
  tokens: 'Access tokens',
  organizations: 'Organizations',
  leaving: 'Your data and account',
};

/** The names of the sections of the account page. */
export type SectionName = keyof typeof sectionTitles;

/** Whether the section has a notice or refusal to show, so it appears even if it is empty. */
export function isTold({ notice, refusal }: Draft): boolean {
  return notice !== undefined || refusal !== undefined;
}

/** A section of the account page, with its own notice and refusal. */
export function section(draft: Draft, name: SectionName, content: Html): Html {
  return html`<section aria-labelledby="${name}">
<h2 id="${name}">${sectionTitles[name]}</h2>
${notice(draft.notice)}${alert(draft)}
${content}
${draft.toConfirm && isConfirming(name) && confirmForm(draft, name, draft.toConfirm)}
</section>`;
}

/** The time since `at`, in words. */
export function ago(now: Date, at: string): string {
  const seconds = (now.getTime() - new Date(at).getTime()) / 1000;
  const [size, unit] = units.find(([size]) => seconds >= size) ?? [60, 'minute'];
  if (seconds < 60) return 'just now';
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(
    -Math.floor(seconds / size),
    unit,
  );
}

const units: [number, Intl.RelativeTimeFormatUnit][] = [
  [365 * 86_400, 'year'],
  [30 * 86_400, 'month'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];
