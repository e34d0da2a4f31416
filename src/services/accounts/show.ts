import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { requireOperator } from '../authority/require.ts';
import { domainOf } from '../domains/canonical.ts';
import { listLockouts } from '../limits/lockouts.ts';
import { hasSso } from '../signin/methods.ts';
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
  const singleSignOn = account.email !== null && (await hasSso(ctx, domainOf(account.email)));
  return { ...viewUser(ctx, account), emailProof, awaitsCode, credentials, singleSignOn, lockouts };
}
