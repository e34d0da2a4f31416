import type { askToConfirm } from '../../../services/people/two-factor/recent.ts';
import { type Html, html } from '../html.ts';
import type { Visit } from '../page.ts';
import { codeField, field, postForm, recoveryForm } from '../parts.ts';
import { passkeyForm } from '../passkey-form.ts';

/** The sections whose changes need a recent confirmation by the person (security P16). */
export const confirmingSections = [
  'profile',
  'passkeys',
  'two-factor',
  'recovery-codes',
  'sign-in',
  'connections',
  'leaving',
] as const;
type ConfirmingSection = (typeof confirmingSections)[number];

const occasions: Record<ConfirmingSection, string> = {
  profile: 'change your address',
  passkeys: 'add or remove a passkey',
  'two-factor': 'set up an authenticator',
  'recovery-codes': 'create new recovery codes',
  'sign-in': 'connect an account',
  connections: 'approve a connection',
  leaving: 'delete your account',
};

/** The forms that are sent again after the confirmation. Their fields are not secrets. */
export const repeatedForms = [
  '/account/email',
  '/account/two-factor',
  '/account/recovery-codes',
  '/account/connections/approve',
  '/account/social',
  '/account/leaving',
] as const;

type Draft = Pick<Visit, 'token' | 'given' | 'refusal'> & {
  /** The path of the refused form. */
  refused?: string | undefined;
};

/** The hidden fields with the form to send again, also after a wrong answer to the confirmation. */
function repeating({ given, refused }: Pick<Draft, 'given' | 'refused'>) {
  const { again, fields } = given;
  if (again !== undefined) return { again, fields };
  const path = repeatedForms.find((one) => one === refused);
  return path === undefined ? {} : { again: path, fields: JSON.stringify(given) };
}

/** Whether this section needs a recent confirmation. */
export function isConfirming(name: string | undefined): name is ConfirmingSection {
  return confirmingSections.some((one) => one === name);
}

/** The ways in which this person can confirm. */
export type ToConfirm = Awaited<ReturnType<typeof askToConfirm>>;

/** The form that asks for the confirmation, and then sends the refused form again. */
export function confirmForm(
  draft: Draft,
  name: ConfirmingSection,
  { methods, asked }: ToConfirm,
): Html {
  const action = `/account/confirm#${name}`;
  const button = html`<button type="submit">Confirm</button>`;
  const by = methods.includes('password')
    ? field(draft, {
        id: 'confirm-password',
        name: 'password',
        label: 'Your password',
        type: 'password',
        autocomplete: 'current-password',
      })
    : methods.includes('totp')
      ? codeField(draft, 'totpCode', { id: 'confirm-code', first: false })
      : null;
  const look = by === null ? {} : ({ look: 'plain' } as const);
  const along = { section: name, ...repeating(draft) };
  return html`<h3>Confirm that it is you</h3>
<p class="quiet">Before you ${occasions[name]}, confirm that it is you.</p>
${by && postForm(draft, action, html`${by}${button}`, along)}
${methods.includes('recovery') && recoveryForm(draft, action, 'Confirm', along)}
${asked && passkeyForm(draft, action, { options: asked.options, button: 'Confirm with a passkey', alone: true, ...look }, along)}
${methods.length === 0 && html`<p>Sign out, and sign in again.</p>`}`;
}
