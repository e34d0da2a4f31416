import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { commandLine } from '../../../shell-word.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { shownIn } from '../../foundation/authority/shown.ts';
import { findByEmail } from '../../people/accounts/find.ts';
import { inviteInstead, mayAddDirectly } from './foreign.ts';
import { operationFor } from './granting.ts';
import { joinOrganization } from './join.ts';
import { byHand } from './origin.ts';
import type { addMemberInput, operatorAddsMemberInput } from './schema.ts';
import { reclaimAdded } from './unproven.ts';
import { viewMember } from './view.ts';

type Input = z.output<typeof addMemberInput> & Partial<z.output<typeof operatorAddsMemberInput>>;

/**
 * Adds an existing account to the organization, also one that was taken out before (security I5); refuses
 * `invite_instead` for an address on a domain that the organization has not verified (security O8).
 */
export async function addMember(ctx: Context, input: Input) {
  const { organization } = await requireAuthority(ctx, operationFor(input.role), input.org);
  const added = await transaction(async () => {
    if (!(await mayAddDirectly(ctx, organization, input.email))) return null;
    const account = await findByEmail(input.email);
    if (account === null) {
      throw new Refusal('not_found', `There is no user ${input.email}.`, {
        hint: `The operator can make one: ${commandLine('idctl user create', input.email, '--name NAME')}`,
      });
    }
    await reclaimAdded(ctx, account, organization.id, input.credentials);
    const membership = await joinOrganization(ctx, organization, account, {
      role: input.role,
      origin: byHand(ctx.actor),
    });
    return viewMember(membership, await shownIn(organization.id, account));
  });
  // Outside the transaction: what is counted must stay.
  if (added === null) throw await inviteInstead(ctx, organization);
  return added;
}
