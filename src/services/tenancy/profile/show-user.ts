import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { listLockouts } from '../../foundation/limits/lockouts.ts';
import { requireAccount } from '../../people/accounts/find.ts';
import type { userRefInput } from '../../people/accounts/schema.ts';
import { viewUser } from '../../people/accounts/view.ts';
import { listCredentials } from '../../people/credentials/list-credentials.ts';
import { hasSso } from '../signin-settings/methods.ts';

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
