import { z } from 'zod';
import { email } from '../../../services/foundation/fields.ts';
import { requireMail } from '../../../services/foundation/mail/configured.ts';
import { signInByCode } from '../../../services/signin/flow.ts';
import { requestMagicCode, signInByCodeInput } from '../../../services/signin/methods/codes.ts';
import { requireReturnTo } from '../../../services/signin/return-to.ts';
import { type Html, html } from '../html.ts';
import { otherLinks } from '../navigation.ts';
import { arrive, form, page, type ShownPage, type Visit } from '../page.ts';
import { alert, codeField, postForm, recoveryChoice, recoveryField } from '../parts.ts';
import { answerField, passkeyAnswer, passkeyAsked } from '../passkey-form.ts';
import { showMethods } from './methods.ts';
import { type LoginQuery, linkTo, returnTo } from './query.ts';

/** The texts of a screen that asks for a mailed code, and the targets of its forms. */
interface Asking {
  title: string;
  said: string;
  enterAt: string;
  button: string;
  /** The path of the form that sends a new code. */
  againAt: string;
  /** Further fields next to the code. */
  more?: Html;
}

/** The schema of a code from an authenticator app. Removes spaces. */
export const totpCode = z
  .string()
  .max(20)
  .transform((text) => text.replace(/\s/g, ''))
  .optional();

interface GivenCodes {
  totpCode?: string | undefined;
  recoveryCode?: string | undefined;
}

/** The answer as meant: people type a recovery code into the field for the six digits too. */
export function asMeant<Given extends GivenCodes>(given: Given): Given {
  const { totpCode = '', recoveryCode } = given;
  const isRecoveryCode = /^[0-9a-z]{5}-?[0-9a-z]{5}$/i.test(totpCode);
  if (!isRecoveryCode || recoveryCode !== undefined) return given;
  return { ...given, totpCode: undefined, recoveryCode: totpCode };
}

/** Asks for a mailed code. The page is the same if no mail was sent (security P7). */
export function askMailedCode(
  visit: Visit,
  { identifier, returnTo }: LoginQuery,
  of: Asking,
): ShownPage {
  const along = { email: identifier, returnTo };
  const asked = factorQuestion(visit);
  const content = html`${codes(visit, asked)}
${of.more}
<button type="submit">${of.button}</button>`;
  return {
    title: of.title,
    script: asked?.attributes && true,
    main: html`<h1>${of.title}</h1>
<p>${of.said} <strong class="address">${identifier}</strong></p>
${alert(visit)}
${postForm(visit, of.enterAt, content, along, asked?.attributes)}
${otherLinks(
  postForm(
    visit,
    of.againAt,
    html`<button class="link" type="submit">Send another code</button>`,
    along,
  ),
  html`<a href="${linkTo('/login', { returnTo })}">Start again</a>`,
)}`,
  };
}

/** The field for the mailed code. After a right code, also the field for the second factor. */
function codes(visit: Visit, asked: FactorQuestion | null): Html {
  const label = 'Six-digit code from the mail';
  if (asked === null) return codeField(visit, 'code', { label });
  const { totp, recovery, attributes } = asked;
  const more = attributes || recovery ? ({ oneOf: true } as const) : {};
  return html`${codeField(visit, 'code', { label, value: visit.given['code'], first: false })}
${totp && codeField(visit, 'totpCode', { label: 'Six-digit code from your authenticator app', ...more })}${attributes && answerField}
${recovery && recoveryChoice(visit, recoveryField(visit, { oneOf: true }))}
<p class="quiet">If you cannot use your second factor, ask an owner of your organization or the administrator of this site to reset it.</p>`;
}

/** The second factor that a form asks for, next to the mailed code. */
interface FactorQuestion {
  totp: boolean;
  recovery: boolean;
  /** The attributes that make the script ask for a passkey. */
  attributes?: Html;
}

/** The second factor that a refusal asks for; null if it asks for none. */
function factorQuestion({ refusal }: Visit): FactorQuestion | null {
  if (!/^second_factor_/.test(refusal?.code ?? '')) return null;
  const { methods, passkeyOptions: options } = refusal?.extra ?? {};
  const totp = !Array.isArray(methods) || methods.includes('totp');
  const recovery = Array.isArray(methods) && methods.includes('recovery');
  if (typeof options !== 'object' || options === null) return { totp, recovery };
  return {
    totp,
    recovery,
    attributes: passkeyAsked({ options, button: 'Use a passkey', look: 'plain' }),
  };
}

const path = '/login/mail-code';

const requestPage = form({
  path,
  access: 'public',
  input: z.strictObject({ email, returnTo }),
  act: async ({ ctx }, { email, returnTo }) => {
    await requestMagicCode(ctx, { email });
    return { goTo: linkTo(path, { identifier: email, returnTo }) };
  },
  refused: (visit) => {
    const { email: identifier = '', returnTo } = visit.given;
    return showMethods(visit, { identifier, returnTo });
  },
});

const askPage = page({
  path,
  access: 'public',
  input: z.object({ identifier: email, returnTo }),
  show: (visit, place) => {
    requireMail(visit.ctx);
    return askCode(visit, place);
  },
});

const enterPage = form({
  path: `${path}/enter`,
  access: 'public',
  input: signInByCodeInput.extend({ totpCode, passkey: passkeyAnswer, returnTo }),
  act: async ({ ctx, cookie }, { returnTo, ...input }) => {
    const target = requireReturnTo(ctx, returnTo);
    return arrive(
      await signInByCode(ctx, { ...asMeant(input), browser: cookie('passkey') }),
      target,
    );
  },
  refused: (visit) =>
    askCode(visit, { identifier: visit.given['email'], returnTo: visit.given['returnTo'] }),
});

/** The pages that sign in with a mailed code. */
export const mailCodePages = [requestPage, askPage, enterPage];

function askCode(visit: Visit, place: LoginQuery): ShownPage {
  return askMailedCode(visit, place, {
    title: 'Check your mail',
    said: 'If there is an account with this address, we sent it a code:',
    enterAt: `${path}/enter`,
    button: 'Sign in',
    againAt: path,
  });
}
