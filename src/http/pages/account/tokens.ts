import { dayText } from '../../../text/dates.ts';
import { type Html, html } from '../html.ts';
import type { ShownPage } from '../page.ts';
import { choice, field, postForm } from '../parts.ts';
import { button, endingLink, rows } from '../rows.ts';
import { shownOnce } from '../shown-once.ts';
import { ago, type Described, type Draft, type ShownToken, section } from './section.ts';

/** The personal access tokens, and a form that creates one. */
export function tokensSection(draft: Draft, tokens: ShownToken[], more: Described): Html {
  const names = more.organizations.map(({ name }) => name).join(', ');
  const reach =
    names === ''
      ? ''
      : ` It works in all your organizations: ${names}${more.hasMore ? ' and others' : ''}.`;
  const content = html`<p class="quiet">For programs that use your account. Anyone who has a token can act as you, within its scope.${reach}</p>
${rows(tokens.map((token) => row(draft, token, more.apps.get(token.id))))}
<details${draft.refusal && html` open`}><summary>Create a token</summary>${creation(draft)}</details>`;
  return section(draft, 'tokens', content);
}

/** The rights of each token scope, the usual scope first. */
const scopes: Record<ShownToken['scope'], string> = {
  write: 'Read and change (write)',
  read: 'Only read (read)',
  admin: 'Also give others access (admin)',
};

function creation(draft: Draft): Html {
  const content = html`${field(draft, { id: 'token-name', name: 'name', label: 'Name', autocomplete: 'off', note: 'Its purpose, such as backups.', maxLength: 200 })}
${field(draft, { name: 'description', label: 'Description', autocomplete: 'off', optional: true, maxLength: 1000 })}
${choice(draft, { name: 'scope', label: 'Scope', options: scopes, note: 'For the scope admin, you must have signed in with your second factor.' })}
${field(draft, { name: 'expiresInDays', label: 'Days until it expires', autocomplete: 'off', optional: true, note: '1 to 365. If empty, it is valid until you revoke it; with the scope admin, for 90 days.', digits: true, maxLength: 3 })}
<button type="submit">Create token</button>`;
  return postForm(draft, '/account/tokens#tokens', content);
}

function row(draft: Draft, token: ShownToken, app: App | undefined) {
  const { id, name, description, kind } = token;
  const renew =
    kind === 'pat' && button(draft, '/account/tokens/regenerate#tokens', 'New value', { id });
  return {
    name,
    mark: html`<code>${token.prefix}…</code>`,
    text: description,
    facts: [`${madeBy(token, app)} · ${lifeOf(draft.ctx.now, token)}`],
    more: html`<details><summary>Change</summary><p class="quiet">If you revoke the token or create a new value, programs with the old value stop working immediately.</p><div class="buttons">${renew}${endingLink('/account/tokens/revoke', 'Revoke', { id })}</div></details>`,
  };
}

type App = Described['apps'] extends Map<string, infer Value> ? Value : never;

/** How the token was created: by the person, or by an app in exchange for its secret. */
function madeBy({ kind }: ShownToken, app: App | undefined): string {
  if (kind === 'pat') return 'Personal token';
  if (app === undefined) return 'Bot token';
  return `Bot token of the app ${app.name}${app.organization === null ? '' : ` of ${app.organization}`}`;
}

function lifeOf(
  now: Date,
  { scope, createdAt, lastUsedAt, expiresAt, suspendedAt }: ShownToken,
): string {
  if (suspendedAt !== undefined) {
    return `suspended on ${dayText(suspendedAt)}, when a backup was restored. To use it again, create a new value.`;
  }
  const used = lastUsedAt === null ? 'never used' : `last used ${ago(now, lastUsedAt)}`;
  const ends =
    expiresAt === null
      ? 'until revoked'
      : `${new Date(expiresAt) <= now ? 'expired' : 'expires'} ${dayText(expiresAt)}`;
  return `scope ${scope} · created ${dayText(createdAt)} · ${used} · ${ends}`;
}

/** Shows the value of a new token. */
export function newToken({ name, token }: { name: string; token: string }): ShownPage {
  return shownOnce('Your new token', { of: name, secret: token, back: '/#tokens' });
}
