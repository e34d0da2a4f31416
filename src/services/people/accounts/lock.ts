import { Transaction } from 'sequelize';
import { Account } from '../../../database/models/account.ts';

// Not the strongest lock, FOR UPDATE, which waits for every writer of a row that refers to the
// account.
const locks = { alone: Transaction.LOCK.NO_KEY_UPDATE, beside: Transaction.LOCK.SHARE };

/**
 * Locks the account until the transaction ends and returns it as it is now; null if it is gone.
 * Code that begins or ends sessions locks it first, so that no session starts while an account is
 * shut out. Code that only begins a session locks it `beside` others; code that goes on to change
 * the account locks it `alone`.
 */
export function lockAccount(
  id: string,
  how: keyof typeof locks = 'alone',
): Promise<Account | null> {
  return Account.findByPk(id, { lock: locks[how] });
}
