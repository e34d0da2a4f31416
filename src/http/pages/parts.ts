import type { Actor } from '../../context.ts';
import { type InputFault, moreWords } from '../../errors.ts';
import { sentencesFor } from '../../next.ts';
import type { SettingWords } from '../../services/foundation/setting-words.ts';
import { clientWords } from '../../services/tenancy/clients/words.ts';
import { ldapWords } from '../../services/tenancy/ldap/words.ts';
import { signInWords } from '../../services/tenancy/signin-settings/words.ts';
import { ssoWords } from '../../services/tenancy/sso/words.ts';
import { webhookWords } from '../../services/tenancy/webhooks/words.ts';
import { type Html, html } from './html.ts';
import { linksFor } from './next.ts';
import type { Visit } from './page.ts';

/** A form field. */
interface Field {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password' | 'date';
  /** The HTML `autocomplete` value, which password managers use. */
  autocomplete: string;
  value?: string | null | undefined;
  /** Advice for filling it in. */
  note?: string;
  optional?: true;
  /** One of several fields that the form needs one of. The browser does not require it. */
  oneOf?: true;
  /** The field of a search, which may stay empty. */
  search?: true;
  /** The field has the focus when the page opens. */
  first?: boolean;
  maxLength?: number;
  /** A code: a typed value is not shown again. */
  code?: true;
  /** Only digits: a phone shows its number keys. */
  digits?: true;
  /** The browser must not correct or capitalize the text. */
  verbatim?: true;
  /** Required if a page has several fields with this name. */
  id?: string;
}

/** `keeps`: the form comes back with what was typed, as after a refusal. */
type Draft = Pick<Visit, 'given' | 'refusal'> & { keeps?: boolean };

/** A field with its label. After a refusal, it marks a fault and keeps the text unless secret. */
export function field(draft: Draft, of: Field): Html {
  const { id = of.name, type = 'text' } = of;
  const { faults, wrong, said } = faultOf(draft, of);
  const secret = type === 'password' || of.code === true;
  const value = (comesBack(draft) && !secret ? draft.given[of.name] : undefined) ?? of.value;
  const attributes = [
    value != null && html` value="${value}"`,
    !of.optional && !of.oneOf && !of.search && html` required`,
    (faults.length > 0 ? wrong : of.first) && html` autofocus`,
    of.maxLength !== undefined && html` maxlength="${of.maxLength}"`,
    of.digits && html` inputmode="numeric"`,
    of.code && html` class="code"`,
    of.verbatim && html` autocapitalize="none" autocorrect="off" spellcheck="false"`,
    said !== '' && html` aria-describedby="${said}"`,
    wrong && html` aria-invalid="true"`,
  ];
  return html`<div class="field">
<label for="${id}">${of.label}${of.optional && html` <span class="quiet">(optional)</span>`}</label>
<input id="${id}" name="${of.name}" type="${type}" autocomplete="${of.autocomplete}"${present(attributes)}>
${of.note && html`<p class="quiet" id="${id}-note">${of.note}</p>`}
</div>`;
}

/** Whether the form comes back with what was typed. */
function comesBack({ refusal, keeps }: Draft): boolean {
  return refusal !== undefined || keeps === true;
}

/** Whether the refusal names the field, and the ids of the texts that describe it. */
function faultOf(
  { refusal }: Draft,
  { name, note, id = name }: Pick<Field, 'name' | 'note' | 'id'>,
) {
  const faults = refusal?.faults ?? [];
  const wrong = faults.some(({ path }) => fieldOf(path) === name);
  const said = [...(note ? [`${id}-note`] : []), ...(wrong ? [alertId] : [])].join(' ');
  return { faults, wrong, said };
}

/** A field to choose one option, with its label. The default is `value`, or the first option. */
export function choice(
  draft: Draft,
  of: Pick<Field, 'name' | 'label' | 'note' | 'value' | 'id'> & { options: Record<string, string> },
): Html {
  const { id = of.name } = of;
  const { wrong, said } = faultOf(draft, of);
  const chosen = (comesBack(draft) ? draft.given[of.name] : undefined) ?? of.value;
  const options = Object.entries(of.options).map(
    ([value, text]) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  );
  return html`<div class="field">
<label for="${id}">${of.label}</label>
<select id="${id}" name="${of.name}"${said !== '' && html` aria-describedby="${said}"`}${wrong && html` aria-invalid="true"`}>${options}</select>
${of.note && html`<p class="quiet" id="${id}-note">${of.note}</p>`}
</div>`;
}

/** A field for several lines, with its label. */
export function area(
  draft: Draft,
  of: Pick<Field, 'name' | 'label' | 'note' | 'value' | 'maxLength' | 'optional'> & {
    rows?: number;
  },
): Html {
  const { faults, wrong, said } = faultOf(draft, of);
  const value = (comesBack(draft) ? draft.given[of.name] : undefined) ?? of.value;
  return html`<div class="field">
<label for="${of.name}">${of.label}${of.optional && html` <span class="quiet">(optional)</span>`}</label>
<textarea id="${of.name}" name="${of.name}" rows="${of.rows ?? 6}"${!of.optional && html` required`} maxlength="${of.maxLength}" autocomplete="off" autocapitalize="none" spellcheck="false"${faults.length > 0 && wrong && html` autofocus`}${said !== '' && html` aria-describedby="${said}"`}${wrong && html` aria-invalid="true"`}>
${value}</textarea>
${of.note && html`<p class="quiet" id="${of.name}-note">${of.note}</p>`}
</div>`;
}

/** The field for a six-digit code from an authenticator app or a mail. */
export function codeField(
  draft: Draft,
  name: 'code' | 'totpCode',
  more: Partial<Field> = {},
): Html {
  const label = 'Six-digit code';
  return field(draft, {
    name,
    label,
    autocomplete: 'one-time-code',
    code: true,
    digits: true,
    maxLength: 20,
    first: true,
    ...more,
  });
}

/** A form for a recovery code, behind a summary. */
export function recoveryForm(
  draft: Draft & Pick<Visit, 'token'>,
  action: string,
  button: string,
  along: Record<string, string | undefined> = {},
): Html {
  const content = html`${recoveryField(draft)}<button type="submit">${button}</button>`;
  return recoveryChoice(draft, postForm(draft, action, content, along));
}

/** The field for a recovery code. */
export function recoveryField(draft: Draft, more: Partial<Field> = {}): Html {
  return field(draft, {
    name: 'recoveryCode',
    label: 'Recovery code',
    autocomplete: 'off',
    note: 'One of the codes that you stored. It is valid once.',
    code: true,
    verbatim: true,
    maxLength: 100,
    ...more,
  });
}

/** What a person needs for a recovery code, behind a summary. It is open if a code was refused. */
export function recoveryChoice({ given }: Pick<Draft, 'given'>, content: Html): Html {
  const open = given['recoveryCode'] !== undefined && html` open`;
  return html`<details class="recovery"${open}><summary>Use a recovery code</summary>
${content}</details>`;
}

/** A form that posts to `action`, with the form token and hidden fields. */
export function postForm(
  { token }: Pick<Visit, 'token'>,
  action: string,
  content: Html,
  along: Record<string, string | undefined> = {},
  attributes?: Html,
): Html {
  return html`<form method="post" action="${action}"${attributes}>
<input type="hidden" name="token" value="${token}">${hidden(along)}
${content}
</form>`;
}

/** The hidden fields of a form. */
export function hidden(along: Record<string, string | undefined>): Html[] {
  return present(
    Object.entries(along).map(
      ([name, value]) =>
        value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`,
    ),
  );
}

/** Refusals that idctl records as events, with the id of the request (security X5). */
const recorded: ReadonlySet<string> = new Set([
  'signin_failed',
  'code_invalid',
  'signin_method_off',
  'sign_in_first',
  'provider_failed',
]);

/** Shows the refusal of a request, and the reference that finds its event in the audit log. */
export function alert({
  refusal,
  ctx,
  labels: own,
}: Pick<Visit, 'refusal' | 'labels'> & { ctx?: { requestId: string; actor?: Actor } }):
  | Html
  | undefined {
  if (refusal === undefined) return undefined;
  const { faults, code, moreFaults } = refusal;
  const reference = recorded.has(code) ? ctx?.requestId : undefined;
  const sentences = [
    ...faults.map((fault) => sentenceOf(fault, own)),
    ...moreWords(moreFaults).map((text) => `… ${text}.`),
  ];
  const said = faults.length > 0 ? sentences : [refusal.message];
  // What the operator has to do is technical, but a person can do something too.
  const later = refusal.kind === 'overloaded' ? 'Try again in a few minutes.' : undefined;
  const advice = sentencesFor(refusal.hint) ?? later;
  const links = linksFor(refusal.hint, ctx?.actor);
  return html`<div class="alert" role="alert" id="${alertId}">
${said.map((text) => html`<p><strong>${text}</strong></p>`)}${advice && html`<p>${advice}</p>`}${links.map(({ href, text }) => html`<p><a href="${href}">${text}</a></p>`)}${reference && html`<p class="quiet">Reference: <code>${reference}</code></p>`}</div>`;
}

const alertId = 'refused';

/** Shows a notice, such as that a change was saved. */
export function notice(text: string | undefined): Html | undefined {
  return text === undefined
    ? undefined
    : html`<div class="notice" role="status"><p>${text}</p></div>`;
}

const settingLabels = Object.fromEntries(
  Object.entries({ ...clientWords, ...ssoWords, ...ldapWords, ...signInWords }).map(
    ([name, words]: [string, SettingWords]) => [name, words.page?.label ?? words.label],
  ),
);

const labels: Record<string, string> = {
  ...settingLabels,
  domain: 'Domain',
  email: 'E-mail address',
  identifier: 'Your entry',
  username: 'User name',
  org: 'Organization',
  password: 'Password',
  currentPassword: 'Current password',
  newPassword: 'New password',
  name: 'Name',
  url: webhookWords.url.label,
  events: webhookWords.events.label,
  description: 'Description',
  locale: 'Language',
  code: 'Code',
  totpCode: 'Code',
  recoveryCode: 'Recovery code',
  expiresInDays: 'Days until it expires',
  scope: 'Scope',
  role: 'Role',
  orgRole: 'Role',
  group: 'Group',
  groups: 'Groups',
  project: 'Project',
  slug: 'Short name',
  user: 'The person',
  emails: 'Addresses:',
  for: 'What to set up',
  kind: 'Kind',
  person: 'Person',
  from: 'From',
  to: 'To',
  returnTo: 'This application',
};

/** A sentence about a wrong field, such as: Password must not be empty. */
function sentenceOf({ path, message }: InputFault, own: Visit['labels'] = {}): string {
  const name = fieldOf(path);
  const at = /\.(\d+)$/.exec(path)?.[1];
  const line = at === undefined ? '' : `, line ${Number(at) + 1},`;
  return `${own[name] ?? labels[name] ?? name}${line} ${message}.`;
}

/** The field of a fault, also if the path names an entry of its list, such as `events.0`. */
function fieldOf(path: string): string {
  return path.replace(/\.\d+$/, '');
}

function present(parts: (Html | false | null | undefined | '')[]): Html[] {
  return parts.filter((part) => typeof part === 'object' && part !== null);
}
