import { z } from 'zod';
import { Refusal } from '../../../errors.ts';
import { email } from '../../../services/foundation/fields.ts';
import { isMailConfigured } from '../../../services/foundation/mail/configured.ts';
import { isWithoutPassword } from '../../../services/people/credentials/operations.ts';
import {
  requestPasswordReset,
  resetPassword,
  resetPasswordInput,
} from '../../../services/signin/methods/codes.ts';
import { html } from '../html.ts';
import { markSignInNotice } from '../marks.ts';
import { otherLinks } from '../navigation.ts';
import { form, isSignedIn, page, type ShownPage, type Visit } from '../page.ts';
import { alert, field, notice, postForm } from '../parts.ts';
import { passkeyAnswer } from '../passkey-form.ts';
import { askMailedCode, asMeant, totpCode } from './mail-code.ts';
import { linkTo } from './query.ts';

const path = '/login/reset';
const confirmPath = `${path}/confirm`;

const askPage = page({
  path,
  access: 'public',
  input: z.object({
    identifier: z.string().max(1000).optional(),
    done: z.string().max(50).optional(),
  }),
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
  input: resetPasswordInput.extend({ totpCode, passkey: passkeyAnswer }),
  act: async (visit, input) => {
    await resetPassword(visit.ctx, { ...asMeant(input), browser: visit.cookie('passkey') });
    const done = markSignInNotice(visit, 'new-password');
    return { goTo: linkTo('/login', { identifier: input.email }, { done, by: 'password' }) };
  },
  refused: (visit) => askNewPassword(visit, visit.given['email'] ?? ''),
});

/** The pages that set a new password with a mailed code. */
export const resetPages = [askPage, requestPage, codePage, confirmPage];

/** The link to the page where an account without a password chooses its first. */
export function linkToChoose(identifier: string): string {
  return linkTo(path, { identifier }, { done: 'confirmed' });
}

/** Whether this person may choose a first password. Anyone can create a link to the page. */
async function mayChoose({ ctx }: Visit, identifier = ''): Promise<boolean> {
  return isSignedIn(ctx) && (await isWithoutPassword(ctx, identifier));
}

function askToChoose(visit: Visit, identifier: string | undefined): ShownPage {
  const along = { email: identifier };
  return {
    title: 'Choose a password',
    main: html`<h1>Choose a password</h1>
${notice('Your address is confirmed, and you are signed in.')}
<p>Your account has no password yet. The password from the sign-up was not chosen in this browser, so another person may know it. idctl removed it.
To choose a new password, request a code.</p>
${postForm(visit, path, html`<button type="submit">Send me a code</button>`, along)}
${otherLinks(html`<a href="/">Later</a>`)}`,
  };
}

function askAddress(visit: Visit, identifier: string | undefined): ShownPage {
  const content = html`${field(visit, { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', value: identifier, verbatim: true, first: true })}
<button type="submit">Send me a code</button>`;
  return {
    title: 'Forgot password?',
    main: html`<h1>Forgot password?</h1>
<p>We send a code to your e-mail address. Use it to choose a new password.</p>
${alert(visit)}
${postForm(visit, path, content)}
${otherLinks(html`<a href="${linkTo('/login', { identifier })}">Back to sign-in</a>`)}`,
  };
}

function askNewPassword(visit: Visit, identifier: string): ShownPage {
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

/** Refuses these pages if the instance does not send mail. */
function requireCodes({ ctx }: Visit): void {
  if (isMailConfigured(ctx)) return;
  throw new Refusal(
    'mail_not_configured',
    'This instance does not send mail, so it cannot send you a code.',
    {
      hint: 'Ask your administrator for a new password, or sign in another way.',
    },
  );
}
