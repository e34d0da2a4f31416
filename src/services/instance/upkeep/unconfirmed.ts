import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { select } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { after } from '../../foundation/time.ts';
import { lockAccount } from '../../people/accounts/account.ts';
import { unconfirmedSeconds } from '../../people/codes/code.ts';
import { accountCredentials, withoutCredentials } from '../../people/credentials/credentials.ts';

/** Small batches: another writer waits for one batch, not for the whole deletion. */
const batch = 50;

/**
 * Tables with rows that show that the account is in use, or that an admin decided about it. An
 * invitation is no such row: the sign-up named it.
 */
const traces = [...accountCredentials, ...withoutCredentials].filter(
  (table) => table !== 'accounts' && table !== 'invitations',
);

// The index of unverified accounts is used only with exactly this condition.
const waiting = `SELECT a.id FROM accounts a
  WHERE a.email_proof = 'none' AND a.password_hash IS NOT NULL AND a.disabled_at IS NULL
    AND COALESCE(a.sign_up_replaced_at, a.created_at) < $1
    ${traces.map((table) => `AND NOT EXISTS (SELECT 1 FROM ${table} WHERE account_id = a.id)`).join('\n    ')}`;

/**
 * Deletes accounts that signed up at least seven days ago and never verified their address. So an
 * unused sign-up does not block the address. An account with other rows stays. Without mail such
 * accounts are in use, so none is deleted.
 */
export async function sweepUnconfirmed(ctx: Context): Promise<void> {
  if (!isMailConfigured(ctx)) return;
  const before = after(ctx.now, -unconfirmedSeconds);
  for (let more = true; more; ) {
    const found = await select<{ id: string }>(`${waiting} ORDER BY a.id LIMIT ${batch}`, [before]);
    await transaction(async () => {
      for (const { id } of found) await forget(ctx, id, before);
    });
    more = found.length === batch;
  }
}

async function forget(ctx: Context, id: string, before: Date): Promise<void> {
  const account = await lockAccount(id);
  // Skip accounts that were verified, or made a member, since we looked.
  if (account === null || (await select(`${waiting} AND a.id = $2`, [before, id])).length === 0)
    return;
  await Account.destroy({ where: { id } });
  await recordEvent(ctx, {
    kind: 'user.deleted',
    subject: { type: 'user', id, name: account.email ?? account.name },
  });
}
