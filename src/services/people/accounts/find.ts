import { Account } from '../../../database/models/account.ts';
import { Refusal } from '../../../errors.ts';
import { isUuid } from '../../foundation/fields.ts';

/** The account with this canonical address. */
export function findByEmail(email: string): Promise<Account | null> {
  return Account.findOne({ where: { email } });
}

/** The account with this id or canonical address; refuses `not_found`. */
export async function requireAccount(user: string): Promise<Account> {
  const account = isUuid(user) ? await Account.findByPk(user) : await findByEmail(user);
  if (account === null)
    throw new Refusal('not_found', `There is no user ${user}.`, {
      hint: 'idctl user list shows them.',
    });
  return account;
}
