import { Transaction } from 'sequelize';
import { Account } from '../../database/models/account.ts';

/**
 * The account as it is now, kept so until the transaction ends; null when it is gone. Whoever begins sessions and
 * whoever ends them lock it first, so that no session slips in while an account is shut out.
 */
export function lockAccount(id: string): Promise<Account | null> {
  // Not the stronger FOR UPDATE, which waits for whoever writes a row that refers to the account.
  return Account.findByPk(id, { lock: Transaction.LOCK.NO_KEY_UPDATE });
}
