import type { Account } from '../../database/models/account.ts';

/** An account as its owner and the operator see it. An instance that sends no mail takes every address as verified (spec §2.6). */
export function viewUser(account: Account) {
  return {
    id: account.id,
    email: account.email,
    emailVerified: true,
    name: account.name,
    locale: account.locale,
    twoFactorEnabled: account.totpEnabledAt !== null,
    disabled: account.disabledAt !== null,
    createdAt: account.createdAt.toISOString(),
  };
}
