import { type Html, html } from '../html.ts';
import { knownAs } from '../login/forms.ts';
import { field, postForm } from '../parts.ts';
import { type Described, type Draft, type Me, section } from './section.ts';

/** A new password, by the current one; without one there is nothing to change. */
export function passwordSection(draft: Draft, { email }: Me, { password }: Described): Html {
  if (password !== 'there') return section(draft, 'password', withoutPassword(draft, email, password));
  const note = `At least ${draft.ctx.config.password.minLength} characters. You will be signed out everywhere else.`;
  const content = html`${email !== null && knownAs(email)}
${field(draft, { name: 'currentPassword', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
${field(draft, { name: 'newPassword', label: 'New password', type: 'password', autocomplete: 'new-password', note })}
<button type="submit">Change password</button>`;
  return section(draft, 'password', postForm(draft, '/account/password#password', content));
}

function withoutPassword(draft: Draft, email: string | null, password: Described['password']): Html {
  const none = html`<p>Your account has no password. You sign in another way.</p>`;
  if (password !== 'may be chosen' || email === null) return none;
  const button = html`<button class="small" type="submit">Send me a code to choose one</button>`;
  return html`${none}${postForm(draft, '/login/reset', button, { email })}`;
}
