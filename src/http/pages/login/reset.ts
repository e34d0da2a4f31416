import { z } from 'zod';
import { Refusal } from '../../../errors.ts';
import { isWithoutPassword } from '../../../services/accounts/without-password.ts';
import { requestPasswordReset } from '../../../services/codes/request.ts';
import { resetPassword } from '../../../services/codes/reset-password.ts';
import { resetPasswordInput } from '../../../services/codes/schema.ts';
import { email } from '../../../services/fields.ts';
import { isMailConfigured } from '../../../services/mail/configured.ts';
import { html } from '../html.ts';
import { markSignInNotice } from '../notice.ts';
import { form, isSignedIn, page, type Shown, type Visit } from '../page.ts';
import { alert, field, notice, postForm } from '../parts.ts';
import { askMailedCode, totpCode } from './codes.ts';
import { linkTo } from './place.ts';

const path = '/login/reset';
const confirmPath = `${path}/confirm`;

const askPage = page({
  path,
  access: 'public',
  input: z.object({ identifier: z.string().max(1000).optional(), done: z.string().max(50).optional() }),
  show: async (visit, { identifier, done }) => {
    requireCodes(visit);
    const own = done === 'confirmed' && (await mayChoose(visit, identifier));
    return own ? askToChoose(visit, identifier) : askAddress(visit, identifier);
  },
});

const requestPage = form({
  path,
  access: 'public',
  input: z.strictObject({ email, returnTo: z.string().optional() }),
  act: async ({ ctx }, { email }) => {
    await requestPasswordReset(ctx, { email });
    return { goTo: linkTo(confirmPath, { identifier: email }) };
  },
  refused: (visit) => askAddress(visit, undefined),
});

const codePage = page({
  path: confirmPath,
  access: 'public',
  input: z.object({ identifier: email }),
  show: (visit, { identifier }) => {
    requireCodes(visit);
    return askNewPassword(visit, identifier);
  },
});

const confirmPage = form({
  path: confirmPath,
  access: 'public',
  input: resetPasswordInput.extend({ totpCode }),
  act: async (visit, input) => {
    await resetPassword(visit.ctx, input);
    return { goTo: `/login?done=${markSignInNotice(visit, 'new-password')}` };
  },
  refused: (visit) => askNewPassword(visit, visit.given['email'] ?? ''),
});

/** A new password by a code that is mailed. */
export const resetPages = [askPage, requestPage, codePage, confirmPage];

/** Where somebody goes on who has confirmed their address, and whose password nobody knows to be theirs. */
export function linkToChoose(identifier: string): string {
  return linkTo(path, { identifier }, { done: 'confirmed' });
}

/** Whether what it says is true of whoever sees it: anybody can make a link to it. */
async function mayChoose({ ctx }: Visit, identifier = ''): Promise<boolean> {
  return isSignedIn(ctx) && (await isWithoutPassword(ctx, identifier));
}

function askToChoose(visit: Visit, identifier: string | undefined): Shown {
  const along = { email: identifier };
  return {
    title: 'Choose a password',
    main: html`<h1>Choose a password</h1>
${notice('Your address is confirmed, and you are signed in.')}
<p>The account has no password: one that was not chosen in this browser might have been a stranger’s, and is void.
With another code that we send to your address you can choose one.</p>
${postForm(visit, path, html`<button type="submit">Send me a code</button>`, along)}
<nav class="below" aria-label="Other ways"><a href="/">Later</a></nav>`,
  };
}

function askAddress(visit: Visit, identifier: string | undefined): Shown {
  const content = html`${field(visit, { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', value: identifier, verbatim: true, first: true })}
<button type="submit">Send me a code</button>`;
  return {
    title: 'Forgotten password',
    main: html`<h1>Forgotten password</h1>
<p>With a code that we send to your address you can choose a new one.</p>
${alert(visit)}
${postForm(visit, path, content)}
<nav class="below" aria-label="Other ways"><a href="${linkTo('/login', { identifier })}">Back to sign-in</a></nav>`,
  };
}

function askNewPassword(visit: Visit, identifier: string): Shown {
  const note = `At least ${visit.ctx.config.password.minLength} characters. You will be signed out everywhere.`;
  return askMailedCode(
    visit,
    { identifier },
    {
      title: 'Choose a new password',
      said: 'If there is an account with this address, a code is on its way to it:',
      enterAt: confirmPath,
      button: 'Change password',
      againAt: path,
      more: field(visit, {
        name: 'newPassword',
        label: 'New password',
        type: 'password',
        autocomplete: 'new-password',
        note,
      }),
    },
  );
}

/** Refuses the screens where no code would come: somebody else has to help. */
function requireCodes({ ctx }: Visit): void {
  if (isMailConfigured(ctx)) return;
  throw new Refusal(
    'mail_not_configured',
    'No mail is sent here, so you cannot be sent a code for a new password.',
    {
      hint: 'Ask your administrator for a new password, or sign in another way.',
    },
  );
}
