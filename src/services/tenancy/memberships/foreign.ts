import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { findVerified } from '../../foundation/domain-names/owns.ts';
import { requirePlace } from '../../foundation/limits/spend.ts';

const mostAnHour = 60;

/**
 * Whether the actor may add the account of this address directly: the operator any, others those on a domain that the
 * organization has verified (security O8). Inside a transaction the domain stays so until that ends.
 */
export async function mayAddDirectly(
  { actor, config }: Context,
  organization: Organization,
  email: string,
): Promise<boolean> {
  if (actor.kind === 'operator' || config.trust.domains === 'off') return true;
  return (await findVerified(organization.id, domainOf(email))) !== null;
}

/**
 * The refusal of an address that must be invited, the same with and without an account. Counted, so that the refusals of
 * one actor end: `too_many_requests` after sixty in an hour.
 */
export async function inviteInstead(ctx: Context, { slug }: Organization): Promise<Refusal> {
  const { actor } = ctx;
  if (actor.kind === 'user') {
    const limit = { name: 'invite instead', of: actor.accountId, most: mostAnHour, seconds: 3600 };
    const message = `You tried to add more than ${mostAnHour} addresses on other domains within an hour.`;
    await transaction(() => requirePlace(ctx, limit, message));
  }
  return new Refusal('invite_instead', `This address is not on a verified domain of ${slug}.`, {
    hint: `Invite it instead: idctl invitation create EMAIL --org ${slug} (or POST /api/v1/orgs/${slug}/invitations).`,
  });
}
