import { z } from 'zod';
import { givenPassword } from '../../../services/people/accounts/account.ts';
import { registrationInput } from '../../../services/people/passkeys/registration.ts';
import { programOf } from '../../../services/people/sessions/program.ts';
import { secondFactorFields } from '../../../services/people/two-factor/second-factor.ts';
import { confirmSession } from '../../../services/signin/confirm.ts';
import {
  registerPasskey,
  removePasskey,
  renamePasskey,
} from '../../../services/signin/passkeys/operations.ts';
import { endingPages } from '../ending.ts';
import { asMeant, totpCode } from '../login/mail-code.ts';
import { form, type Page } from '../page.ts';
import { answered, passkeyAnswer } from '../passkey-form.ts';
import { isSentAgain } from '../sent-again.ts';
import { confirmingSections, isConfirming } from './confirm.ts';
import { showAccount, showCodes } from './overview.ts';
import { back, changeForm } from './section-form.ts';

/** The forms for passkeys, and the form with which a person confirms the session. */
export const passkeyForms: Page[] = [
  form({
    path: '/account/passkeys',
    access: 'person',
    input: z.strictObject({
      name: registerPasskey.input.shape.name,
      passkey: answered(registrationInput),
    }),
    act: async (visit, { name, passkey: credential }) => {
      const browser = visit.cookie('passkey');
      const { recoveryCodes } = await registerPasskey(visit.ctx, {
        name: name ?? programOf(visit.ctx.client.userAgent),
        credential,
        browser,
      });
      return recoveryCodes === undefined
        ? back(visit, 'passkey-added', 'passkeys')
        : showCodes(visit, recoveryCodes, 'passkey-added');
    },
    refused: (visit) => showAccount(visit, isSentAgain(visit) ? 'recovery-codes' : 'passkeys'),
  }),
  changeForm('passkeys', 'passkeys/rename', renamePasskey.input, renamePasskey, 'passkey-renamed'),
  ...endingPages('/account/passkeys/remove', removePasskey, {
    act: 'Remove passkey',
    back: '/#passkeys',
    reply: (visit) => back(visit, 'passkey-removed', 'passkeys'),
  }),
  form({
    path: '/account/confirm',
    access: 'person',
    input: z.strictObject({
      section: z.enum(confirmingSections),
      password: givenPassword.optional(),
      totpCode,
      recoveryCode: secondFactorFields.recoveryCode,
      passkey: passkeyAnswer,
    }),
    act: async (visit, { section, ...given }) => {
      await confirmSession(visit.ctx, { ...asMeant(given), browser: visit.cookie('passkey') });
      return back(visit, `confirmed-${section}`, section);
    },
    refused: (visit) => {
      const { section } = visit.given;
      return showAccount(visit, isConfirming(section) ? section : 'passkeys');
    },
  }),
];
