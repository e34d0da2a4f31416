import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { endSessions } from '../../people/sessions/end.ts';
import { findAffected } from '../sso/affected.ts';
import { requireConnection } from './find.ts';
import type { ldapRefInput } from './schema.ts';
import { viewLdap } from './settings.ts';

/**
 * Removes the connection and ends the sessions that came through it. Accounts, memberships and keys stay, the keys as
 * former ones: a connection made again in its place frees nobody (security I1).
 */
export async function removeLdap(ctx: Context, input: z.output<typeof ldapRefInput>) {
  const { organization } = await requireAuthority(ctx, 'ldap.change', input.org);
  return transaction(async () => {
    const connection = await requireConnection(organization);
    const affected = await findAffected(connection);
    // Waits for the sign-ins under way, whose sessions end too.
    await connection.destroy();
    const sessionsEnded = await endSessions(ctx, { connectionId: connection.id });
    await recordEvent(ctx, {
      kind: 'ldap.removed',
      organizationId: organization.id,
      subject: { type: 'ldap', id: connection.id, name: connection.uri },
      data: { owners: affected.owners, sessionsEnded },
    });
    return { ...viewLdap(connection), enabled: false, ...affected, sessionsEnded };
  });
}
