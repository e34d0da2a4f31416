import { Op, Transaction } from 'sequelize';
import { Membership } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import { shellWord } from '../../../shell-word.ts';

/**
 * Returns the organization if this account is its only owner. Locks the organization until the
 * transaction ends, so that two owners cannot leave at once.
 */
export async function holdIfLastOwner(
  organizationId: string,
  accountId: string,
): Promise<Organization | null> {
  // Not FOR UPDATE, which waits for every writer of a row that refers to the organization.
  const lock = Transaction.LOCK.NO_KEY_UPDATE;
  const organization = await Organization.findByPk(organizationId, { lock, rejectOnEmpty: true });
  const others = await Membership.count({
    where: { organizationId, role: 'owner', accountId: { [Op.ne]: accountId } },
  });
  return others > 0 ? null : organization;
}

/**
 * Refuses `last_owner` unless the organization has an owner other than this account; the hint says
 * what to do first. Locks the organization like `holdIfLastOwner`.
 */
export async function requireAnotherOwner(
  organizationId: string,
  accountId: string,
  hint?: string,
): Promise<void> {
  const organization = await holdIfLastOwner(organizationId, accountId);
  if (organization === null) return;
  throw new Refusal('last_owner', `${organization.slug} would be left without an owner.`, {
    hint:
      hint ??
      `Make someone else owner first: idctl member role EMAIL --org ${shellWord(organization.slug)} --role owner`,
  });
}
