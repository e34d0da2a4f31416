import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { requireOperator } from '../authority/require.ts';
import { requireAccount } from './find.ts';
import { listCredentials } from './list-credentials.ts';
import type { userRefInput } from './schema.ts';
import { viewUser } from './view.ts';

/** One account, with what lets its holder in: an earlier holder may have left it. */
export async function showUser(ctx: Context, input: z.output<typeof userRefInput>) {
  requireOperator(ctx);
  const account = await requireAccount(input.user);
  const { emailProof, awaitsCode } = account;
  const credentials = await listCredentials(ctx, account.id);
  return { ...viewUser(ctx, account), emailProof, awaitsCode, credentials };
}
