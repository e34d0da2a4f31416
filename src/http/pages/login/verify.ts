import { z } from 'zod';
import { email } from '../../../services/foundation/fields.ts';
import { requireMail } from '../../../services/foundation/mail/configured.ts';
import {
  resendVerification,
  verifyEmail,
  verifyEmailInput,
} from '../../../services/signin/methods/codes.ts';
import { requireReturnTo } from '../../../services/signin/return-to.ts';
import { form, page, type ShownPage, type Visit } from '../page.ts';
import { askMailedCode } from './codes.ts';
import { arrive } from './enter.ts';
import { type LoginPlace, linkTo, returnTo } from './place.ts';
import { linkToChoose } from './reset.ts';

const path = '/login/verify';

const askPage = page({
  path,
  access: 'public',
  input: z.object({ identifier: email, returnTo }),
  show: (visit, place) => {
    requireMail(visit.ctx);
    return askVerification(visit, place);
  },
});

const verifyPage = form({
  path,
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
  path: `${path}/resend`,
  access: 'public',
  input: z.strictObject({ email, returnTo }),
  act: async ({ ctx }, { email, returnTo }) => {
    await resendVerification(ctx, { email });
    return { goTo: linkToVerify({ identifier: email, returnTo }) };
  },
  refused: (visit) => askVerification(visit, placeOf(visit)),
});

/** The pages that confirm the address of a new account (spec §4.4). */
export const verifyPages = [askPage, verifyPage, resendPage];

/** The link to the page that confirms an address. */
export function linkToVerify(place: LoginPlace): string {
  return linkTo(path, place);
}

function placeOf({ given }: Visit): LoginPlace {
  return { identifier: given['email'], returnTo: given['returnTo'] };
}

/** Asks for the code that confirms an address. */
function askVerification(visit: Visit, place: LoginPlace): ShownPage {
  return askMailedCode(visit, place, {
    title: 'Confirm your address',
    said: 'Enter the code that was mailed to',
    enterAt: path,
    button: 'Confirm',
    againAt: `${path}/resend`,
  });
}
