import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import type { EventData } from '../../foundation/events/kinds.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { forgetRecords } from '../scim-records/write.sql.ts';

/**
 * Deletes an account with all its data, and frees its address (security O6). Call it inside a
 * transaction, with the account held.
 */
export async function deleteAccount(
  ctx: Context,
  account: Account,
  data: EventData<'user.deleted'> = {},
): Promise<void> {
  await forgetRecords(ctx, account.id);
  await account.destroy();
  await recordEvent(ctx, { kind: 'user.deleted', ...eventAbout('user', account), data });
}
