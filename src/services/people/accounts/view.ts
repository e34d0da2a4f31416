import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';

/**
 * Whether the address reads as verified. Where this instance sends no mail it does (spec §2.6), unless the account has
 * waited for a mailed code since it did (security I3).
 */
export function isEmailVerified(
  ctx: Pick<Context, 'config'>,
  { emailProof, awaitsCode }: Pick<Account, 'emailProof' | 'awaitsCode'>,
): boolean {
  return emailProof !== 'none' || !(awaitsCode || isMailConfigured(ctx));
}

/** Whether somebody has proved that the address is theirs; `auto` is nobody's word (security I3). */
export function isProved({ emailProof }: Pick<Account, 'emailProof'>): boolean {
  return emailProof !== 'none' && emailProof !== 'auto';
}

/** Whether that stands against whoever else vouches for the address: the word of a former owner of its domain does not. */
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
