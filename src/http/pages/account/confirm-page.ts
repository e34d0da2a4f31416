import { z } from 'zod';
import { givenPassword } from '../../../services/people/accounts/account.ts';
import { secondFactorFields } from '../../../services/people/two-factor/second-factor.ts';
import { confirmSession } from '../../../services/signin/confirm.ts';
import { refuseNul } from '../../body/check.ts';
import { asMeant, totpCode } from '../login/mail-code.ts';
import { form, type Page } from '../page.ts';
import { jsonField, passkeyAnswer } from '../passkey-form.ts';
import { confirmingSections, isConfirming, repeatedForms } from './confirm.ts';
import { showAccount } from './overview.ts';
import { back } from './section-form.ts';

/**
 * The form with which a person confirms the session. It then sends the form that needed the
 * confirmation again, with its fields: `again` is its path.
 */
export function confirmPage(pages: () => readonly Page[]): Page {
  return form({
    path: '/account/confirm',
    access: 'person',
    input: z.strictObject({
      section: z.enum(confirmingSections),
      again: z.enum(repeatedForms).optional(),
      fields: jsonField(
        z.record(z.string(), z.string()),
        'must be the fields of a form',
      ).optional(),
      password: givenPassword.optional(),
      totpCode,
      recoveryCode: secondFactorFields.recoveryCode,
      passkey: passkeyAnswer,
    }),
    act: async (visit, { section, again, fields = {}, ...given }) => {
      refuseNul(fields);
      await confirmSession(visit.ctx, { ...asMeant(given), browser: visit.cookie('passkey') });
      const repeated = pages().find(({ method, path }) => method === 'POST' && path === again);
      return (
        repeated?.answer({ ...visit, given: fields }) ??
        back(visit, `confirmed-${section}`, section)
      );
    },
    refused: (visit) => {
      const { section } = visit.given;
      return showAccount(visit, isConfirming(section) ? section : 'passkeys');
    },
  });
}
