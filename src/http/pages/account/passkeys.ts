import { maxPasskeys } from '../../../services/signin/passkeys/operations.ts';
import { passkeyCookie } from '../../cookies.ts';
import { type Html, html } from '../html.ts';
import { field, postForm } from '../parts.ts';
import { answerField, passkeyAsked } from '../passkey-form.ts';
import { badge, endingLink, rows } from '../rows.ts';
import { ago, type Described, type Draft, isTold, type Me, section } from './section.ts';

type Passkeys = NonNullable<Described['passkeys']>;

/** The script and the challenge cookie that a page with this section needs. */
export function passkeyNeeds({ passkeys, toConfirm }: Pick<Described, 'passkeys' | 'toConfirm'>) {
  if (passkeys === null) return {};
  const asked = toConfirm?.asked ?? null;
  return { script: true, ...(asked && { cookies: [passkeyCookie(asked.browser)] }) } as const;
}

/** The texts of the reasons why a person cannot add a passkey. */
const reasons: Record<NonNullable<Passkeys['noMore']>, string> = {
  address: 'Passkeys do not work on this site.',
  settings: 'Passkeys are turned off for your e-mail address. Ask your administrator.',
  most: `You have ${maxPasskeys} passkeys, which is the maximum. Remove one first.`,
};

/**
 * The section for passkeys. If the person has none and none would work here, it appears only with a
 * refusal.
 */
export function passkeysSection(
  draft: Draft,
  { twoFactorEnabled }: Me,
  { passkeys, toConfirm }: Described,
): Html | null {
  if (passkeys === null) return isTold(draft) ? section(draft, 'passkeys', html``) : null;
  const { items, noMore } = passkeys;
  const isProven = toConfirm === null;
  const content = html`<p>A passkey signs you in with your fingerprint, face or screen lock, without a password.${!twoFactorEnabled && noMore === null && ' Once you have one, your password alone is not enough to sign in. You also get recovery codes, in case you lose the device.'}</p>
${rows(items.map((item) => row(draft, item, isProven)))}
${noMore === null ? isProven && addForm(draft) : html`<p class="quiet">${reasons[noMore]}</p>`}`;
  return section(draft, 'passkeys', content);
}

function row(draft: Draft, item: Passkeys['items'][number], mayRemove: boolean) {
  const { id, name, createdAt, lastUsedAt, signsIn } = item;
  const { now } = draft.ctx;
  const used = lastUsedAt === null ? 'never used' : `last used ${ago(now, lastUsedAt)}`;
  const kept = { ...draft, given: {} };
  const rename = html`${field(kept, { id: `name-${id}`, name: 'name', label: 'New name', autocomplete: 'off', value: name, maxLength: 200 })}
<button class="small" type="submit">Rename</button>`;
  return {
    name,
    mark: signsIn ? undefined : badge('second factor only'),
    facts: [`added ${ago(now, createdAt)} · ${used}`],
    more: html`<details><summary>Rename${mayRemove && ' or remove'}</summary>
${postForm(draft, '/account/passkeys/rename#passkeys', rename, { id })}
${mayRemove && endingLink('/account/passkeys/remove', 'Remove', { id })}</details>`,
  };
}

function addForm(draft: Draft): Html {
  const named = field(draft, {
    id: 'passkey-name',
    name: 'name',
    label: 'Name of a new passkey',
    autocomplete: 'off',
    note: 'A name to recognize it by, such as “My phone”.',
    optional: true,
    maxLength: 200,
  });
  const of = { make: true, ask: '/api/v1/me/passkeys/options', button: 'Add a passkey' } as const;
  return html`${postForm(draft, '/account/passkeys#passkeys', html`${named}${answerField}`, {}, html`${passkeyAsked(of)} hidden`)}
<p class="quiet" data-unscripted>To add a passkey, use a browser that supports passkeys, and allow scripts for this page.</p>`;
}
