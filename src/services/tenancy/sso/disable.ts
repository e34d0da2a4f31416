import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { findAffected } from './affected.ts';
import { requireConnection } from './find.ts';
import type { ssoRefInput } from './schema.ts';
import { viewSso } from './view.ts';

/** Stops new sign-ins through the connection; sessions that began by it go on. Names whom it touches. */
export async function disableSso(ctx: Context, input: z.output<typeof ssoRefInput>) {
  const { organization } = await requireAuthority(ctx, 'sso.change', input.org);
  return transaction(async () => {
    const connection = await requireConnection(organization);
    const affected = await findAffected(connection);
    if (!connection.enabled) return { ...viewSso(ctx, connection), ...affected };
    await connection.update({ enabled: false });
    await recordEvent(ctx, {
      kind: 'sso.disabled',
      organizationId: organization.id,
      subject: { type: 'sso', id: connection.id, name: connection.emailDomain ?? connection.issuer },
      data: { owners: affected.owners },
    });
    return { ...viewSso(ctx, connection), ...affected };
  });
}
