import { passkeyCookie } from '../../cookies.ts';
import { type Html, html } from '../html.ts';
import { codeField, field, postForm } from '../parts.ts';
import { answerField, passkeyAsked, passkeyForm } from '../passkey-form.ts';
import { ago, type Described, type Draft, section } from './section.ts';

type Passkeys = NonNullable<Described['passkeys']>;

/** What a page with this section needs: the script, and the cookie of a challenge. */
export function passkeyNeeds(passkeys: Passkeys | null) {
  if (passkeys === null) return {};
  const asked = passkeys.toConfirm?.asked ?? null;
  return { script: true, ...(asked && { cookies: [passkeyCookie(asked.browser)] }) } as const;
}

/** The passkeys of the account. Where passkeys do not work, only a refusal is shown. */
export function passkeysSection(draft: Draft, passkeys: Passkeys | null): Html | null {
  if (passkeys === null)
    return draft.refusal === undefined ? null : section(draft, 'passkeys', html``);
  const { items, mayAdd, toConfirm } = passkeys;
  const content = html`<p>A passkey signs you in with your fingerprint, face or screen lock, without a password.</p>
${items.length > 0 && html`<ul class="rows">${items.map((item) => row(draft, item, toConfirm === null))}</ul>`}
${toConfirm === null ? mayAdd && addForm(draft) : confirmForm(draft, toConfirm)}
${!mayAdd && html`<p class="quiet">You cannot add a passkey now.</p>`}`;
  return section(draft, 'passkeys', content);
}

function row(draft: Draft, item: Passkeys['items'][number], mayRemove: boolean): Html {
  const { id, name, createdAt, lastUsedAt, signsIn } = item;
  const { now } = draft.ctx;
  const used = lastUsedAt === null ? 'never used' : `last used ${ago(now, lastUsedAt)}`;
  const kept = { ...draft, given: {} };
  const rename = html`${field(kept, { id: `name-${id}`, name: 'name', label: 'New name', autocomplete: 'off', value: name, maxLength: 200 })}
<button class="small" type="submit">Rename</button>`;
  const remove = html`<button class="small danger" type="submit">Remove</button>`;
  return html`<li><div><strong>${name}</strong>${!signsIn && html` <span class="badge">second factor only</span>`}
<p class="quiet">added ${ago(now, createdAt)} · ${used}</p>
<details><summary>Rename${mayRemove && ' or remove'}</summary>
${postForm(draft, '/account/passkeys/rename#passkeys', rename, { id })}
${mayRemove && postForm(draft, '/account/passkeys/remove#passkeys', remove, { id })}</details></div></li>`;
}

function addForm(draft: Draft): Html {
  const named = field(draft, {
    id: 'passkey-name',
    name: 'name',
    label: 'Name of a new passkey',
    autocomplete: 'off',
    note: 'So that you know it again, such as: my phone.',
    optional: true,
    maxLength: 200,
  });
  const of = { make: true, ask: '/api/v1/me/passkeys/options', button: 'Add a passkey' } as const;
  return html`${postForm(draft, '/account/passkeys#passkeys', html`${named}${answerField}`, {}, html`${passkeyAsked(of)} hidden`)}
<p class="quiet" data-unscripted>To add a passkey, allow scripts for this page, in a browser that has passkeys.</p>`;
}

/** Asks who the person is, before a passkey is added or removed (security P16). */
function confirmForm(draft: Draft, { methods, asked }: NonNullable<Passkeys['toConfirm']>): Html {
  const action = '/account/confirm#passkeys';
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
  return html`<h3>Confirm that it is you</h3>
<p class="quiet">Before you add or remove a passkey, confirm that it is you.</p>
${by && postForm(draft, action, html`${by}${button}`)}
${asked && passkeyForm(draft, action, { options: asked.options, button: 'Confirm with a passkey', alone: true, ...look })}
${methods.length === 0 && html`<p>Sign out, and sign in again.</p>`}`;
}
