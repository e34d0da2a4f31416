import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { refuseField } from '../../../errors.ts';
import { requireAuthority, requireOperator } from '../../foundation/authority/require.ts';
import { findByEmail } from '../../people/accounts/find.ts';
import { lockAccount } from '../../people/accounts/lock.ts';
import { listCredentials } from '../../people/credentials/list-credentials.ts';
import { isToReclaim, reclaimMember } from '../identities/reclaim.ts';
import { isMember } from './find.ts';
import type { addMemberInput, credentialsFate } from './schema.ts';

/**
 * Ends what an earlier holder left on an account that the organization's admin, or the operator, is about to make a
 * member (security I3). The operator says whether credentials end. Call it inside that transaction; `account` is then as
 * it has become.
 */
export async function reclaimAdded(
  ctx: Context,
  account: Account,
  organizationId: string,
  fate: z.output<typeof credentialsFate> | undefined,
): Promise<void> {
  // Held before it is looked at: a code may prove the address meanwhile.
  const held = await lockAccount(account.id);
  if (held === null || (await isMember(organizationId, held.id))) return;
  if (!(await isToReclaim(ctx, held, organizationId))) return;
  if (ctx.actor.kind === 'operator') {
    if (fate === 'keep') return;
    const found = fate === undefined ? await listCredentials(ctx, held.id) : [];
    if (found.length > 0) throw fateUnsaid(account);
  }
  await reclaimMember(ctx, held, organizationId, null);
  await account.reload();
}

/** What `member add` would end for the operator; nothing where the address was proved or the organization does not own its domain. */
export async function findUnproven(ctx: Context, input: z.output<typeof addMemberInput>) {
  requireOperator(ctx);
  const { organization } = await requireAuthority(ctx, 'members.change', input.org);
  const account = await findByEmail(input.email);
  if (account === null || (await isMember(organization.id, account.id))) return [];
  return (await isToReclaim(ctx, account, organization.id)) ? listCredentials(ctx, account.id) : [];
}

function fateUnsaid({ email }: Account) {
  return refuseField(
    '--yes or --keep-credentials',
    `${email} has credentials, and its address was never verified`,
    'With --yes they end before the account becomes a member. With --keep-credentials they stay.',
  );
}
