import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { requireOperator, requireUser } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { holdAccount } from '../../people/accounts/hold.ts';
import { endVouchedTokens } from '../../people/apps/end-vouched.ts';
import { endSessionsPastSecondFactor } from '../../people/sessions/end.ts';
import { ownSessionOf } from '../../people/sessions/own.ts';
import { recordMember } from '../scim-records/member.ts';
import type { createOrganizationInput } from './schema.ts';
import { slugOf } from './slug.ts';
import { viewOrganization } from './view.ts';

/** Makes an organization; a person who makes one becomes its owner. Refuses `already_exists` for a taken slug. */
export async function createOrganization(ctx: Context, input: z.output<typeof createOrganizationInput>) {
  const creator = requireCreator(ctx);
  const slug = input.slug ?? slugOf(input.name);
  const organization = await transaction(async () => {
    if (creator !== null) await holdAccount(ctx, creator);
    const row = { id: orderedId(), slug, name: input.name, createdAt: ctx.now };
    const made = await refusingDuplicate(Organization.create(row), {
      message: `There is an organization ${slug} already.`,
      hint: 'Choose another short name with --slug (or `slug`).',
    });
    if (creator !== null) {
      const origin = { kind: 'manual' as const, by: creator };
      await Membership.create({
        organizationId: made.id,
        accountId: creator,
        role: 'owner',
        origin,
        joinedAt: ctx.now,
      });
      await endSessionsPastSecondFactor(ctx, creator, ownSessionOf(ctx.actor));
      await endVouchedTokens(ctx, creator, made.id);
      await recordMember(ctx, made.id, await Account.findByPk(creator, { rejectOnEmpty: true }));
    }
    await recordEvent(ctx, {
      kind: 'organization.created',
      organizationId: made.id,
      subject: { type: 'organization', id: made.id, name: made.name },
    });
    return made;
  });
  return viewOrganization(organization, creator === null ? 'operator' : 'owner');
}

/** The account that becomes owner, or null for the operator. */
function requireCreator(ctx: Context): string | null {
  if (ctx.config.orgs.creation === 'anyone' && ctx.actor.kind !== 'operator')
    return requireUser(ctx, 'organizations.create').accountId;
  requireOperator(ctx);
  return null;
}
