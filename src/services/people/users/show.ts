import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { listLockouts } from '../../foundation/limits/lockouts.ts';
import { requireAccount } from '../accounts/find.ts';
import type { userRefInput } from '../accounts/schema.ts';
import { viewUser } from '../accounts/view.ts';
import { listCredentials } from '../credentials/list-credentials.ts';

/** One account, with what lets its holder in, since an earlier holder may have left it, and what is locked. */
export async function showUser(ctx: Context, input: z.output<typeof userRefInput>) {
  requireOperator(ctx);
  const account = await requireAccount(input.user);
  const { emailProof, awaitsCode } = account;
  const credentials = await listCredentials(ctx, account.id);
  const lockouts = await listLockouts(ctx, account);
  return { ...viewUser(ctx, account), emailProof, awaitsCode, credentials, lockouts };
}
