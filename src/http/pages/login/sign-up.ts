import { z } from 'zod';
import { Refusal } from '../../../errors.ts';
import { canonicalEmail } from '../../../services/foundation/domain-names/canonical.ts';
import { email } from '../../../services/foundation/fields.ts';
import { requireMail } from '../../../services/foundation/mail/configured.ts';
import { signUpInput } from '../../../services/people/accounts/account.ts';
import {
  resendVerification,
  verifyEmail,
  verifyEmailInput,
} from '../../../services/signin/methods/codes.ts';
import { requireReturnTo } from '../../../services/signin/return-to.ts';
import { requireAdmitted, signUp } from '../../../services/signin/sign-up/sign-up.ts';
import { invitationInvalid } from '../../../services/tenancy/invitations/invitation.ts';
import { lookAtInvitation } from '../../../services/tenancy/invitations/operations.ts';
import { selfSignupAllowed } from '../../../services/tenancy/signin-settings/methods.ts';
import { signUpCookie } from '../../cookies.ts';
import { html } from '../html.ts';
import { otherLinks } from '../navigation.ts';
import { arrive, form, page, type ShownPage, type Visit } from '../page.ts';
import { alert, field, postForm } from '../parts.ts';
import { askMailedCode } from './mail-code.ts';
import { type LoginQuery, linkTo, returnTo } from './query.ts';
import { linkToChoose } from './reset.ts';

const path = '/login/signup';

interface Newcomer extends LoginQuery {
  invitation?: string | undefined;
}

const askPage = page({
  path,
  access: 'public',
  input: z.object({
    identifier: z.string().max(1000).optional(),
    returnTo,
    invitation: signUpInput.shape.invitation,
  }),
  show: async (visit, newcomer) => {
    await requireOpen(visit, newcomer);
    return ask(visit, newcomer);
  },
});

const signUpPage = form({
  path,
  access: 'public',
  input: signUpInput.omit({ locale: true }).extend({ returnTo }),
  act: async ({ ctx }, { returnTo, ...input }) => {
    const target = requireReturnTo(ctx, returnTo);
    const signedUp = await signUp(ctx, input);
    if (signedUp.emailVerification === 'done') return arrive(signedUp, target);
    const goTo = linkTo(verifyPath, { identifier: input.email, returnTo });
    return { goTo, cookies: [signUpCookie(signedUp.ticket)] };
  },
  refused: (visit) => {
    const { returnTo, invitation } = visit.given;
    return ask(visit, { returnTo, invitation });
  },
});

/** Refuses before the person fills in the form, if the sign-up is sure to be refused. */
async function requireOpen({ ctx }: Visit, { identifier, invitation }: Newcomer): Promise<void> {
  const to = invitation === undefined ? null : await lookAtInvitation(ctx, { token: invitation });
  if (invitation !== undefined && to === null) throw invitationInvalid();
  const email = canonicalEmail(identifier ?? '') ?? to?.email;
  if (email !== undefined) await requireAdmitted(ctx, { email, invitation });
  else if (!(await selfSignupAllowed(ctx, ''))) throw notForEveryone();
}

function notForEveryone(): Refusal {
  return new Refusal('signup_closed', 'Sign-up is not open to everyone here.', {
    hint: 'Enter your address. If your organization allows sign-up, the next page offers it. Otherwise, ask your administrator.',
  });
}

function ask(visit: Visit, { identifier, returnTo, invitation }: Newcomer): ShownPage {
  const least = visit.ctx.config.password.minLength;
  const content = html`${field(visit, { name: 'name', label: 'Name', autocomplete: 'name', maxLength: 200, first: true })}
${field(visit, { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', value: identifier, verbatim: true })}
${field(visit, { name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password', note: `At least ${least} characters.` })}
<button type="submit">Create account</button>`;
  return {
    title: 'Create an account',
    main: html`<h1>Create an account</h1>
${alert(visit)}
${postForm(visit, path, content, { returnTo, invitation })}
${otherLinks(html`<a href="${linkTo('/login', { returnTo })}">I have an account</a>`)}`,
  };
}

const verifyPath = '/login/verify';

const askVerificationPage = page({
  path: verifyPath,
  access: 'public',
  input: z.object({ identifier: email, returnTo }),
  show: (visit, place) => {
    requireMail(visit.ctx);
    return askVerification(visit, place);
  },
});

const verifyPage = form({
  path: verifyPath,
  access: 'public',
  input: verifyEmailInput.pick({ email: true, code: true }).extend({ returnTo }),
  act: async ({ ctx, cookie }, { returnTo, ...input }) => {
    const target = requireReturnTo(ctx, returnTo);
    const session = await verifyEmail(ctx, { ...input, ticket: cookie('sign_up') });
    return arrive(session, session.passwordKept ? target : linkToChoose(input.email));
  },
  refused: (visit) => askVerification(visit, placeOf(visit)),
});

const resendPage = form({
  path: `${verifyPath}/resend`,
  access: 'public',
  input: z.strictObject({ email, returnTo }),
  act: async ({ ctx }, { email, returnTo }) => {
    await resendVerification(ctx, { email });
    return { goTo: linkTo(verifyPath, { identifier: email, returnTo }) };
  },
  refused: (visit) => askVerification(visit, placeOf(visit)),
});

/** The pages of a sign-up and of the confirmation of the new address (spec §4.4). */
export const signUpPages = [askPage, signUpPage, askVerificationPage, verifyPage, resendPage];

function placeOf({ given }: Visit): LoginQuery {
  return { identifier: given['email'], returnTo: given['returnTo'] };
}

/** Asks for the code that confirms an address. */
function askVerification(visit: Visit, place: LoginQuery): ShownPage {
  return askMailedCode(visit, place, {
    title: 'Confirm your address',
    said: 'Enter the code that was mailed to',
    enterAt: verifyPath,
    button: 'Confirm',
    againAt: `${verifyPath}/resend`,
  });
}
