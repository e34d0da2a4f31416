import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { endSessions } from '../../people/sessions/end.ts';
import { findAffected } from './affected.ts';
import { requireConnection } from './find.ts';
import type { ssoRefInput } from './schema.ts';
import { viewSso } from './view.ts';

/**
 * Removes the connection and ends the sessions that came through it. Accounts, memberships and keys stay, the keys as
 * former ones: a connection made again in its place frees nobody (security I1).
 */
export async function removeSso(ctx: Context, input: z.output<typeof ssoRefInput>) {
  const { organization } = await requireAuthority(ctx, 'sso.change', input.org);
  return transaction(async () => {
    const connection = await requireConnection(organization);
    const affected = await findAffected(connection);
    // Waits for the sign-ins under way, whose sessions end too.
    await connection.destroy();
    const sessionsEnded = await endSessions(ctx, { connectionId: connection.id });
    await recordEvent(ctx, {
      kind: 'sso.removed',
      organizationId: organization.id,
      subject: { type: 'sso', id: connection.id, name: connection.emailDomain ?? connection.issuer },
      data: { owners: affected.owners, sessionsEnded },
    });
    return { ...viewSso(ctx, connection), enabled: false, ...affected, sessionsEnded };
  });
}
