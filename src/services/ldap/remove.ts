import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Identity } from '../../database/models/identity.ts';
import { transaction } from '../../database/transaction.ts';
import { requireAuthority } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { findAffected } from '../sso/affected.ts';
import { requireConnection } from './find.ts';
import type { ldapRefInput } from './schema.ts';
import { viewLdap } from './settings.ts';

/** Removes the connection with the identities bound through it; accounts and memberships stay. */
export async function removeLdap(ctx: Context, input: z.output<typeof ldapRefInput>) {
  const { organization } = await requireAuthority(ctx, 'ldap.change', input.org);
  return transaction(async () => {
    const connection = await requireConnection(organization);
    const affected = await findAffected(connection);
    const view = { ...viewLdap(connection), enabled: false, ...affected };
    await Identity.destroy({ where: { connectionId: connection.id } });
    await connection.destroy();
    await recordEvent(ctx, {
      kind: 'ldap.removed',
      organizationId: organization.id,
      subject: { type: 'ldap', id: connection.id, name: connection.uri },
      data: { owners: affected.owners },
    });
    return view;
  });
}
