import { type Html, html } from '../html.ts';
import { knownAs } from '../login/forms.ts';
import { field, postForm } from '../parts.ts';
import { type Draft, type Me, section } from './section.ts';

/** A new password, by the current one. */
export function passwordSection(draft: Draft, { email }: Me): Html {
  const note = `At least ${draft.ctx.config.password.minLength} characters. Everywhere else you will be signed out.`;
  const content = html`${email !== null && knownAs(email)}
${field(draft, { name: 'currentPassword', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
${field(draft, { name: 'newPassword', label: 'New password', type: 'password', autocomplete: 'new-password', note })}
<button type="submit">Change password</button>`;
  return section(draft, 'password', postForm(draft, '/account/password#password', content));
}
