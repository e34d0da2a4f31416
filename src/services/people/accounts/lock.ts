import { Transaction } from 'sequelize';
import { Account } from '../../../database/models/account.ts';

// Not the strongest lock, FOR UPDATE, which waits for whoever writes a row that refers to the account.
const locks = { alone: Transaction.LOCK.NO_KEY_UPDATE, beside: Transaction.LOCK.SHARE };

/**
 * The account as it is now, kept so until the transaction ends; null when it is gone. Whoever begins sessions and
 * whoever ends them lock it first, so that no session slips in while an account is shut out. Those who only begin
 * one lock it beside each other; whoever goes on to change the account must lock it alone.
 */
export function lockAccount(
  id: string,
  how: keyof typeof locks = 'alone',
): Promise<Account | null> {
  return Account.findByPk(id, { lock: locks[how] });
}
