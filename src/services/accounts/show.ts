import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { requireOperator } from '../authority/require.ts';
import { listLockouts } from '../limits/lockouts.ts';
import { requireAccount } from './find.ts';
import { listCredentials } from './list-credentials.ts';
import type { userRefInput } from './schema.ts';
import { viewUser } from './view.ts';

/** One account, with what lets its holder in, since an earlier holder may have left it, and what is locked. */
export async function showUser(ctx: Context, input: z.output<typeof userRefInput>) {
  requireOperator(ctx);
  const account = await requireAccount(input.user);
  const { emailProof, awaitsCode } = account;
  const credentials = await listCredentials(ctx, account.id);
  const lockouts = await listLockouts(ctx, account);
  return { ...viewUser(ctx, account), emailProof, awaitsCode, credentials, lockouts };
}
