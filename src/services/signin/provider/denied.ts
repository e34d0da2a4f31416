import { Op } from 'sequelize';
import { Account } from '../../../database/models/account.ts';
import { Client } from '../../../database/models/client.ts';
import { Membership } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { shownTo } from '../../foundation/authority/shown.ts';
import type { ClientRow } from './client-row.sql.ts';
import { readBarred } from './read-once.ts';
import type { Denied, ProviderRequest } from './request.ts';

// What idctl tells a person who may not use an application.

const mostManagers = 3;

/**
 * Reads what the page for a refused person says. Only a member learns the organization and its
 * owners and admins: to a stranger, they are as secret as the reason.
 */
export async function findDenied(
  visit: ProviderRequest,
  client: ClientRow,
  accountId: string,
): Promise<Denied> {
  const account = await Account.findByPk(accountId, { attributes: ['email'] });
  const application = await Client.findByPk(client.id, { attributes: ['homeUrl'] });
  const barred = await readBarred(visit, client, accountId);
  return {
    application: client.name,
    homeUrl: application?.homeUrl ?? null,
    email: account?.email ?? null,
    organization:
      barred === 'project_role_missing' ? await findManagers(client.organizationId) : null,
  };
}

async function findManagers(organizationId: string) {
  const { name } = await Organization.findByPk(organizationId, { rejectOnEmpty: true });
  const rows = await Membership.findAll({
    where: { organizationId, role: { [Op.in]: ['owner', 'admin'] } },
    include: { model: Account, as: 'account', required: true, where: { disabledAt: null } },
    order: [
      ['role', 'DESC'],
      ['accountId', 'ASC'],
    ],
    limit: mostManagers,
  });
  const accounts = rows.map(({ account }) => account);
  const shown = await shownTo(organizationId, accounts);
  const people = accounts.map((account) => shown(account));
  return { name, managers: people.map(({ name: called, email }) => called || (email ?? '')) };
}
