import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { requireOperator } from '../authority/require.ts';
import { requireAccount } from './find.ts';
import type { userRefInput } from './schema.ts';
import { viewUser } from './view.ts';

/** One account. */
export async function showUser(ctx: Context, input: z.output<typeof userRefInput>) {
  requireOperator(ctx);
  return viewUser(ctx, await requireAccount(input.user));
}
