import { z } from 'zod';
import { email } from '../../../services/foundation/fields.ts';
import { requireMail } from '../../../services/foundation/mail/configured.ts';
import { signInByCode } from '../../../services/signin/flow.ts';
import { requestMagicCode, signInByCodeInput } from '../../../services/signin/methods/codes.ts';
import { requireReturnTo } from '../../../services/signin/return-to.ts';
import { form, page, type ShownPage, type Visit } from '../page.ts';
import { askMailedCode, totpCode } from './codes.ts';
import { arrive } from './enter.ts';
import { showMethods } from './methods.ts';
import { type LoginPlace, linkTo, returnTo } from './place.ts';

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
  input: signInByCodeInput.extend({ totpCode, returnTo }),
  act: async ({ ctx }, { returnTo, ...input }) => {
    const target = requireReturnTo(ctx, returnTo);
    return arrive(await signInByCode(ctx, input), target);
  },
  refused: (visit) =>
    askCode(visit, { identifier: visit.given['email'], returnTo: visit.given['returnTo'] }),
});

/** The pages that sign in with a mailed code. */
export const mailCodePages = [requestPage, askPage, enterPage];

function askCode(visit: Visit, place: LoginPlace): ShownPage {
  return askMailedCode(visit, place, {
    title: 'Check your mail',
    said: 'If there is an account with this address, a code is on its way to it:',
    enterAt: `${path}/enter`,
    button: 'Sign in',
    againAt: path,
  });
}
