import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';

/**
 * Whether the address counts as verified. If this instance sends no mail it does (spec §2.6). An
 * account still waiting for a code from when mail was sent is the exception (security I3).
 */
export function isEmailVerified(
  ctx: Pick<Context, 'config'>,
  { emailProof, awaitsCode }: Pick<Account, 'emailProof' | 'awaitsCode'>,
): boolean {
  return emailProof !== 'none' || !(awaitsCode || isMailConfigured(ctx));
}

/** Whether the address was proved to be the account's; `auto` is no proof (security I3). */
export function isProved({ emailProof }: Pick<Account, 'emailProof'>): boolean {
  return emailProof !== 'none' && emailProof !== 'auto';
}

/**
 * Whether that proof still holds against other proofs of the address: one by a former owner of its
 * domain does not.
 */
export function isProvedForGood(account: Pick<Account, 'emailProof'>): boolean {
  return isProved(account) && account.emailProof !== 'former domain';
}

/** An account as its owner sees it. */
export function viewOwner(
  ctx: Pick<Context, 'config'>,
  account: Pick<Account, 'id' | 'email' | 'emailProof' | 'awaitsCode' | 'name' | 'locale'>,
  twoFactorEnabled: boolean,
) {
  const { id, email, name, locale } = account;
  return {
    id,
    email,
    emailVerified: isEmailVerified(ctx, account),
    name,
    locale,
    twoFactorEnabled,
  };
}

/** An account as the operator sees it too. */
export function viewUser(ctx: Pick<Context, 'config'>, account: Account) {
  return {
    ...viewOwner(ctx, account, account.totpEnabledAt !== null),
    disabled: account.disabledAt !== null,
    createdAt: account.createdAt.toISOString(),
  };
}
