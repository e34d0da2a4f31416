import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { shownIn } from '../../foundation/authority/shown.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireAccount } from '../../people/accounts/find.ts';
import { lockAccount } from '../../people/accounts/lock.ts';
import type { userRefInput } from '../../people/accounts/schema.ts';
import { viewUser } from '../../people/accounts/view.ts';
import { holdIfLastOwner } from '../memberships/last-owner.ts';
import { forgetRecords } from '../scim-records/write.ts';

/**
 * Deletes an account with its memberships, sessions and outside identities, and frees its address (security O6). It is
 * never refused: the organizations that are left without an owner are named (security O8).
 */
export async function deleteUser(ctx: Context, input: z.output<typeof userRefInput>) {
  requireOperator(ctx);
  const account = await requireAccount(input.user);
  const ownerless = await transaction(async () => {
    // Before its organizations, as everyone who ends a membership does.
    await lockAccount(account.id);
    const left = await findLeftOwnerless(account);
    await forgetRecords(account.id);
    await account.destroy();
    const slugs = left.map(({ organization }) => organization.slug);
    const subject = { type: 'user', id: account.id };
    await recordEvent(ctx, {
      kind: 'user.deleted',
      subject: { ...subject, name: account.name },
      data: { ownerless: slugs },
    });
    for (const { organization, name } of left) {
      const about = { organizationId: organization.id, subject: { ...subject, name } };
      await recordEvent(ctx, { kind: 'organization.ownerless', ...about });
    }
    return left.map(({ organization: { id, slug } }) => ({ id, slug }));
  });
  return { ...viewUser(ctx, account), ownerless };
}

/** The organizations that have no other owner, each with the name it knows the account by. */
async function findLeftOwnerless(account: Account) {
  const where = { accountId: account.id, role: 'owner' };
  const owned = await Membership.findAll({ where, order: ['organizationId'] });
  const left: { organization: Organization; name: string }[] = [];
  for (const { organizationId } of owned) {
    const organization = await holdIfLastOwner(organizationId, account.id);
    if (organization === null) continue;
    left.push({ organization, name: (await shownIn(organizationId, account)).name });
  }
  return left;
}
