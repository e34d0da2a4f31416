import { Op, Transaction } from 'sequelize';
import { Membership } from '../../database/models/membership.ts';
import { Organization } from '../../database/models/organization.ts';
import { Refusal } from '../../errors.ts';
import { shellWord } from '../../shell-word.ts';

/**
 * Refuses `last_owner` unless the organization has an owner other than this account. Holds the
 * organization's row until the transaction ends, so that two owners cannot leave at once.
 */
export async function requireAnotherOwner(organizationId: string, accountId: string): Promise<void> {
  // Not FOR UPDATE, which waits for whoever writes a row that refers to the organization.
  const lock = Transaction.LOCK.NO_KEY_UPDATE;
  const organization = await Organization.findByPk(organizationId, { lock, rejectOnEmpty: true });
  const others = await Membership.count({
    where: { organizationId, role: 'owner', accountId: { [Op.ne]: accountId } },
  });
  if (others > 0) return;
  throw new Refusal('last_owner', `${organization.slug} would be left without an owner.`, {
    hint: `Make someone else owner first: idctl member role EMAIL --org ${shellWord(organization.slug)} --role owner`,
  });
}
