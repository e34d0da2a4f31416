import type { Account } from '../../database/models/account.ts';

/** An account as its owner sees it. An instance that sends no mail takes every address as verified (spec §2.6). */
export function viewOwner(
  account: Pick<Account, 'id' | 'email' | 'name' | 'locale'>,
  twoFactorEnabled: boolean,
) {
  const { id, email, name, locale } = account;
  return { id, email, emailVerified: true, name, locale, twoFactorEnabled };
}

/** An account as the operator sees it too. */
export function viewUser(account: Account) {
  return {
    ...viewOwner(account, account.totpEnabledAt !== null),
    disabled: account.disabledAt !== null,
    createdAt: account.createdAt.toISOString(),
  };
}
