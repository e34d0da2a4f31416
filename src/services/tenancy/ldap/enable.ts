import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireAnyDomain } from './enabling.ts';
import { requireConnection } from './find.ts';
import type { ldapRefInput } from './schema.ts';
import { viewLdap } from './settings.ts';

/** Lets people sign in through the directory; the organization must have a verified domain (security I2). */
export async function enableLdap(ctx: Context, input: z.output<typeof ldapRefInput>) {
  const { organization } = await requireAuthority(ctx, 'ldap.change', input.org);
  return transaction(async () => {
    const connection = await requireConnection(organization);
    if (connection.enabled) return viewLdap(connection);
    await requireAnyDomain(ctx, organization);
    await connection.update({ enabled: true });
    await recordEvent(ctx, {
      kind: 'ldap.enabled',
      organizationId: organization.id,
      subject: { type: 'ldap', id: connection.id, name: connection.uri },
    });
    return viewLdap(connection);
  });
}
