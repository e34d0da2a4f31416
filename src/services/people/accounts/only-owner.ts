import { Op } from 'sequelize';
import { z } from 'zod';
import { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { operation } from '../../foundation/operation.ts';
import { requireAccount } from './find.ts';
import { userRefInput } from './schema.ts';

/** The slugs of the organizations whose only active owner is this account. */
export const listOwnedAlone = operation({
  authority: 'operator',
  input: userRefInput,
  output: z.array(z.string()),
  run: async (_ctx, input) => {
    const { id, disabledAt } = await requireAccount(input.user);
    if (disabledAt !== null) return [];
    const owned = await Membership.findAll({ where: { accountId: id, role: 'owner' } });
    const alone: string[] = [];
    for (const { organizationId } of owned) {
      const others = await Membership.count({
        where: { organizationId, role: 'owner', accountId: { [Op.ne]: id } },
        include: { model: Account, as: 'account', required: true, where: { disabledAt: null } },
      });
      if (others === 0) alone.push(organizationId);
    }
    const organizations = await Organization.findAll({ where: { id: alone }, order: ['slug'] });
    return organizations.map(({ slug }) => slug);
  },
});
