import { mostPasskeys } from '../../../services/signin/passkeys/operations.ts';
import { passkeyCookie } from '../../cookies.ts';
import { type Html, html } from '../html.ts';
import { field, postForm } from '../parts.ts';
import { answerField, passkeyAsked } from '../passkey-form.ts';
import { ago, type Described, type Draft, section } from './section.ts';

type Passkeys = NonNullable<Described['passkeys']>;

/** What a page with this section needs: the script, and the cookie of a challenge. */
export function passkeyNeeds({ passkeys, toConfirm }: Pick<Described, 'passkeys' | 'toConfirm'>) {
  if (passkeys === null) return {};
  const asked = toConfirm?.asked ?? null;
  return { script: true, ...(asked && { cookies: [passkeyCookie(asked.browser)] }) } as const;
}

/** Why a person cannot add a passkey. */
const reasons: Record<NonNullable<Passkeys['noMore']>, string> = {
  address: 'Passkeys do not work at this address.',
  settings: 'Passkeys are switched off for your address. Ask your administrator.',
  most: `You have ${mostPasskeys} passkeys, the most possible. Remove one first.`,
};

/** The passkeys of the account. Where passkeys do not work, only a refusal is shown. */
export function passkeysSection(draft: Draft, { passkeys, toConfirm }: Described): Html | null {
  if (passkeys === null)
    return draft.refusal === undefined ? null : section(draft, 'passkeys', html``);
  const { items, noMore } = passkeys;
  const isProven = toConfirm === null;
  const content = html`<p>A passkey signs you in with your fingerprint, face or screen lock, without a password.</p>
${items.length > 0 && html`<ul class="rows">${items.map((item) => row(draft, item, isProven))}</ul>`}
${noMore === null ? isProven && addForm(draft) : html`<p class="quiet">${reasons[noMore]}</p>`}`;
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
