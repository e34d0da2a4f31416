import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { right } from '../../../finding.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { type Check, check } from './check.ts';

/**
 * Whether accounts wait for a code that this instance cannot mail (security I3). Null if none
 * waits.
 */
export async function checkSignUps({ config }: Pick<Context, 'config'>): Promise<Check | null> {
  if (isMailConfigured({ config })) return null;
  const count = await Account.count({ where: { emailProof: 'none', awaitsCode: true } });
  if (count === 0) return null;
  return check('sign-ups', 'no account waits for a mailed code', async () => {
    const waiting = count === 1 ? '1 account waits' : `${count} accounts wait`;
    return right(
      `${waiting} for a mailed code, and this instance sends no mail`,
      'Set mail.smtpUrl, or make an account yourself: idctl user delete EMAIL, then idctl user create EMAIL --name NAME',
    );
  });
}
