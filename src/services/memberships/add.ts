import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/transaction.ts';
import { Refusal } from '../../errors.ts';
import { commandLine } from '../../shell-word.ts';
import { findByEmail } from '../accounts/find.ts';
import { requireAuthority } from '../authority/require.ts';
import { shownIn } from '../scim/records/shown.ts';
import { joinOrganization } from './join.ts';
import { byHand } from './origin.ts';
import type { addMemberInput } from './schema.ts';
import { viewMember } from './view.ts';

/** Adds an existing account to the organization, also one that was taken out before (security I5). */
export async function addMember(ctx: Context, input: z.output<typeof addMemberInput>) {
  const operation = input.role === 'owner' ? 'members.grantOwner' : 'members.change';
  const { organization } = await requireAuthority(ctx, operation, input.org);
  return transaction(async () => {
    const account = await findByEmail(input.email);
    if (account === null) {
      throw new Refusal('not_found', `There is no user ${input.email}.`, {
        hint: `The operator can make one: ${commandLine('idctl user create', input.email, '--name NAME')}`,
      });
    }
    const membership = await joinOrganization(ctx, organization, account, {
      role: input.role,
      origin: byHand(ctx.actor),
    });
    return viewMember(membership, await shownIn(organization.id, account));
  });
}
