import { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Domain } from '../../../database/models/domain.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { Membership } from '../../../database/models/membership.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { dialectOfDatabase, select } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { forgetProofs } from '../../people/accounts/forget-proofs.ts';
import { endSessions } from '../../people/sessions/end.ts';
import type { organizationRefInput } from './schema.ts';
import { viewOrganization } from './view.ts';

const holdingPeople = `SELECT id FROM accounts WHERE id IN (
    SELECT account_id FROM memberships WHERE organization_id = $1
    UNION SELECT account_id FROM scim_records WHERE organization_id = $1
  ) ORDER BY id FOR NO KEY UPDATE`;

/** Deletes the organization with its memberships, domains and connections; the accounts stay. */
export async function deleteOrganization(ctx: Context, input: z.output<typeof organizationRefInput>) {
  const { organization } = await requireAuthority(ctx, 'organization.delete', input.org);
  return transaction(async () => {
    // First what a sign-in holds first, then the people, whom everybody holds before what is the organization's, then
    // what sessions refer to: what is under way is waited for, and ends, and nobody waits in a circle.
    const lock = Transaction.LOCK.UPDATE;
    const verified = await Domain.findAll({
      where: { organizationId: organization.id, state: 'Verified' },
      lock,
    });
    await SsoConnection.findAll({ where: { organizationId: organization.id }, lock });
    await LdapConnection.findAll({ where: { organizationId: organization.id }, lock });
    await holdPeople(organization.id);
    for (const { name } of verified) await forgetProofs(name);
    await organization.reload({ lock });
    const members = await Membership.count({ where: { organizationId: organization.id } });
    await endSessions(ctx, { organizationId: organization.id });
    await organization.destroy();
    // Once more, for who came meanwhile.
    for (const { name } of verified) await forgetProofs(name);
    await recordEvent(ctx, {
      kind: 'organization.deleted',
      organizationId: organization.id,
      subject: { type: 'organization', id: organization.id, name: organization.name },
      data: { members },
    });
    return { ...viewOrganization(organization), members };
  });
}

/** Holds everybody whose membership or provisioned record goes. */
async function holdPeople(organizationId: string): Promise<void> {
  // On SQLite the transaction holds everything. Not FOR UPDATE: see accounts/lock.ts.
  if (dialectOfDatabase() === 'sqlite') return;
  await select(holdingPeople, [organizationId]);
}
