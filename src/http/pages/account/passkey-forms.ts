import { z } from 'zod';
import { registrationInput } from '../../../services/people/passkeys/registration.ts';
import { programOf } from '../../../services/people/sessions/program.ts';
import {
  registerPasskey,
  removePasskey,
  renamePasskey,
} from '../../../services/signin/passkeys/operations.ts';
import { endingPages } from '../ending.ts';
import { form, type Page } from '../page.ts';
import { answered } from '../passkey-form.ts';
import { isSentAgain } from '../sent-again.ts';
import { showAccount, showCodes } from './overview.ts';
import { back, changeForm } from './section-form.ts';

/** The forms for passkeys. */
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
];
