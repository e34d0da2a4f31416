import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Identity } from '../../database/models/identity.ts';
import { transaction } from '../../database/transaction.ts';
import { requireAuthority } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { findAffected } from './affected.ts';
import { requireConnection } from './find.ts';
import type { ssoRefInput } from './schema.ts';
import { viewSso } from './view.ts';

/** Removes the connection with the identities bound through it; accounts and memberships stay. */
export async function removeSso(ctx: Context, input: z.output<typeof ssoRefInput>) {
  const { organization } = await requireAuthority(ctx, 'sso.change', input.org);
  return transaction(async () => {
    const connection = await requireConnection(organization);
    const affected = await findAffected(connection);
    const view = { ...viewSso(ctx, connection), enabled: false, ...affected };
    await Identity.destroy({ where: { connectionId: connection.id } });
    await connection.destroy();
    await recordEvent(ctx, {
      kind: 'sso.removed',
      organizationId: organization.id,
      subject: { type: 'sso', id: connection.id, name: connection.emailDomain ?? connection.issuer },
      data: { owners: affected.owners },
    });
    return view;
  });
}
