import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { findAffected } from '../sso/affected.ts';
import { requireConnection } from './find.ts';
import type { ldapRefInput } from './schema.ts';
import { viewLdap } from './settings.ts';

/** Stops new sign-ins through the directory; sessions that began by it go on. Names whom it touches. */
export async function disableLdap(ctx: Context, input: z.output<typeof ldapRefInput>) {
  const { organization } = await requireAuthority(ctx, 'ldap.change', input.org);
  return transaction(async () => {
    const connection = await requireConnection(organization);
    const affected = await findAffected(connection);
    if (!connection.enabled) return { ...viewLdap(connection), ...affected };
    await connection.update({ enabled: false });
    await recordEvent(ctx, {
      kind: 'ldap.disabled',
      organizationId: organization.id,
      subject: { type: 'ldap', id: connection.id, name: connection.uri },
      data: { owners: affected.owners },
    });
    return { ...viewLdap(connection), ...affected };
  });
}
