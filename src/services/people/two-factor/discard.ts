import { Account } from '../../../database/models/account.ts';

/** Deletes the secret and the time it was enabled (spec §2.6). */
export async function discardTotp(accountId: string): Promise<void> {
  const nothing = {
    totpSecret: null,
    totpStartedAt: null,
    totpEnabledAt: null,
    totpLastStep: null,
  };
  await Account.update(nothing, { where: { id: accountId } });
}
