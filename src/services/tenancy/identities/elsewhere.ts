import { Op } from 'sequelize';
import { Membership } from '../../../database/models/membership.ts';

/** Whether the account belongs to an organization other than this one, in any role. */
export async function belongsElsewhere(accountId: string, organizationId: string): Promise<boolean> {
  const where = { accountId, organizationId: { [Op.ne]: organizationId } };
  return (await Membership.count({ where })) > 0;
}
