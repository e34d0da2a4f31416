import { z } from 'zod';
import { email } from '../../../services/foundation/fields.ts';
import { givenPassword } from '../../../services/people/accounts/account.ts';
import { assertionInput } from '../../../services/people/passkeys/assertion.ts';
import { openLoginLinkInput } from '../../../services/people/sessions/schema.ts';
import { secondFactorFields } from '../../../services/people/two-factor/second-factor.ts';
import { openLoginLink, signIn, signInByPasskey } from '../../../services/signin/flow.ts';
import { lookAtLoginLink } from '../../../services/signin/methods/link.ts';
import { answerPendingSignIn, describePending } from '../../../services/signin/pending.ts';
import { requireReturnTo } from '../../../services/signin/return-to.ts';
import { passkeyCookie } from '../../cookies.ts';
import { type Html, html } from '../html.ts';
import { noticeOf } from '../marks.ts';
import { otherLinks } from '../navigation.ts';
import { arrive, form, isSignedIn, page, type ShownPage, type Visit } from '../page.ts';
import { alert, codeField, postForm, recoveryForm } from '../parts.ts';
import { answered, passkeyAnswer, passkeyForm } from '../passkey-form.ts';
import { viaRenewal } from '../renew.ts';
import { showInvitation } from './invitation.ts';
import { asMeant, totpCode } from './mail-code.ts';
import { askWho, showMethods } from './methods.ts';
import { returnTo } from './query.ts';

const notices: Record<string, string> = {
  'signed-out': 'You are signed out.',
  'new-password': 'Your password was changed. Sign in with the new one.',
  deleted: 'Your account was deleted.',
  left: 'You left the organization and are signed out. Only its admins can add you again.',
};

/** The sign-in page. It asks for an identifier, then shows the ways to sign in with it. */
const signInPage = page({
  path: '/login',
  access: 'public',
  input: z.object({
    identifier: z.string().max(1000).optional(),
    by: z.enum(['password', 'directory']).optional(),
    invitation: z.string().max(200).optional(),
    returnTo,
    done: z.string().max(50).optional(),
    again: z.string().max(10).optional(),
  }),
  show: async (visit, { identifier, by, invitation, returnTo, done }) => {
    if (mayBeSignedIn(visit)) return { goTo: viaRenewal('/login', visit.given) };
    if (invitation !== undefined) return showInvitation(visit, invitation);
    const target = requireReturnTo(visit.ctx, returnTo);
    if (isSignedIn(visit.ctx) && !asksFresh(returnTo)) return { goTo: target };
    const said = notices[noticeOf(visit, done) ?? ''];
    if (identifier === undefined) return askWho(visit, { returnTo }, said);
    return showMethods(visit, { identifier, returnTo }, by, said);
  },
});

/** Whether a link opened this page in a browser that may have a session to renew. */
function mayBeSignedIn({ ctx, given, cookie }: Visit): boolean {
  const sent = given['returnTo'] !== undefined || given['invitation'] !== undefined;
  const first = given['again'] === undefined && given['identifier'] === undefined;
  return sent && first && !isSignedIn(ctx) && cookie('form') !== undefined;
}

/** Whether an application asks a signed-in person to sign in again. */
function asksFresh(returnTo: string | undefined): boolean {
  return /^\/oauth\/authorize\/[\w-]+\?(.*&)?fresh=1(&|$)/.test(returnTo ?? '');
}

/** Signs in with address and password. */
const passwordPage = form({
  path: '/login/password',
  access: 'public',
  input: z.strictObject({ email, password: givenPassword, returnTo }),
  act: async (visit, { returnTo, ...input }) => {
    const target = requireReturnTo(visit.ctx, returnTo);
    return arrive(await signIn(visit.ctx, input, { returnTo: target }), target);
  },
  refused: (visit) => {
    const { email: identifier = '', returnTo } = visit.given;
    return showMethods(visit, { identifier, returnTo }, 'password');
  },
});

/** Signs in with only a passkey. The script sends the form. */
const passkeyPage = form({
  path: '/login/passkey',
  access: 'public',
  input: z.strictObject({ passkey: answered(assertionInput), returnTo }),
  act: async ({ ctx, cookie }, { passkey: credential, returnTo }) => {
    const target = requireReturnTo(ctx, returnTo);
    const session = await signInByPasskey(ctx, { credential, browser: cookie('passkey') });
    return arrive(session, target);
  },
  refused: (visit) => askWho(visit, { returnTo: visit.given['returnTo'] }),
});

/** Asks for the second factor that a sign-in still needs. */
const askCodePage = page({
  path: '/login/code',
  access: 'public',
  input: z.object({}),
  show: askCode,
});

/** Completes a pending sign-in of any method. */
const answerCodePage = form({
  path: '/login/code',
  access: 'public',
  input: z.strictObject({
    totpCode,
    recoveryCode: secondFactorFields.recoveryCode,
    passkey: passkeyAnswer,
  }),
  act: async ({ ctx, cookie }, given) => {
    const cookies = { pending: cookie('second_factor'), browser: cookie('passkey') };
    const session = await answerPendingSignIn(ctx, { ...asMeant(given), ...cookies });
    return arrive(session, session.returnTo);
  },
  refused: async (visit) => {
    const shown = isOver(visit) ? null : await askCode(visit);
    return shown === null || 'goTo' in shown ? askWho(visit, {}) : shown;
  },
});

/** Whether the pending sign-in has ended, so that no code can complete it. */
function isOver({ refusal }: Visit): boolean {
  return refusal?.code === 'invalid_credential' || refusal?.code === 'signin_failed';
}

async function askCode(visit: Visit): Promise<ShownPage | { goTo: string }> {
  const { ctx, cookie } = visit;
  const pending = await describePending(ctx, cookie('second_factor'), cookie('passkey'));
  if (pending === null) return { goTo: '/login' };
  const { methods, asked, helper } = pending;
  const totp = methods.includes('totp');

  return {
    title: 'Second factor',
    ...(asked !== null && { script: true, cookies: [passkeyCookie(asked.browser)] }),
    main: html`<h1>Second factor</h1>
${totp ? html`<p>Enter the six digits that your authenticator app shows now${asked && ', or use a passkey'}.</p>` : html`<p>Use one of your passkeys.</p>`}
${alert(visit)}
${totp && postForm(visit, '/login/code', html`${codeField(visit, 'totpCode')}<button type="submit">Sign in</button>`)}
${asked && passkeyForm(visit, '/login/code', { options: asked.options, button: 'Use a passkey', alone: true, ...(totp && { look: 'plain' }) })}
${asked && !totp && noScript}
${methods.includes('recovery') && recoveryForm(visit, '/login/code', 'Sign in')}
${lostFactor(methods.includes('recovery'), helper)}
${otherLinks(html`<a href="/login">Start again</a>`)}`,
  };
}

/** What a person can do who has lost the second factor. */
function lostFactor(hasCodes: boolean, helper: string | null): Html {
  const who = helper === null ? 'the administrator of this site' : `an owner of ${helper}`;
  const first = hasCodes ? 'If you have no recovery code either, ask' : 'If you cannot use it, ask';
  return html`<p class="quiet">${first} ${who} to reset your second factor.</p>`;
}

const noScript = html`<p data-unscripted>This page cannot use a passkey without scripts. Allow scripts for this page, or use another browser.</p>`;

// Mail scanners and previews open every link, so only the button uses up the one-time link.

const linkPath = '/login/link';

const linkPage = page({
  path: linkPath,
  access: 'public',
  input: openLoginLinkInput,
  show: (visit, { token }) => askToEnter(visit, token),
});

const enterByLinkPage = form({
  path: linkPath,
  access: 'public',
  // `token` is already the name of the form token.
  input: z.strictObject({ link: openLoginLinkInput.shape.token }),
  act: async ({ ctx }, { link }) => {
    const session = await openLoginLink(ctx, { token: link });
    return arrive(session, session.returnTo);
  },
  refused: (visit) => askWho(visit, {}),
});

/** The pages that sign in: with a password, passkey, second factor, or the operator's link. */
export const signInPages = [
  signInPage,
  passwordPage,
  passkeyPage,
  linkPage,
  enterByLinkPage,
  askCodePage,
  answerCodePage,
];

async function askToEnter(visit: Visit, link: string): Promise<ShownPage> {
  const { email, name } = await lookAtLoginLink(visit.ctx, { token: link });
  return {
    title: 'Sign in',
    main: html`<h1>Sign in</h1>
<p>This link signs you in once, as <strong class="address">${email ?? name}</strong></p>
${postForm(visit, linkPath, html`<button type="submit">Sign in</button>`, { link })}`,
  };
}
