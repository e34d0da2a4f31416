import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/transaction.ts';
import { requireAuthority } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { findOwnersWithIdentity } from '../identities/owners.ts';
import { requireConnection } from './find.ts';
import type { ssoRefInput } from './schema.ts';
import { viewSso } from './view.ts';

/** Stops new sign-ins through the connection; sessions that began by it go on. Names the owners who used it. */
export async function disableSso(ctx: Context, input: z.output<typeof ssoRefInput>) {
  const { organization } = await requireAuthority(ctx, 'sso.change', input.org);
  return transaction(async () => {
    const connection = await requireConnection(organization);
    const owners = await findOwnersWithIdentity(organization.id, connection.id);
    if (!connection.enabled) return { ...viewSso(ctx, connection), owners };
    await connection.update({ enabled: false });
    await recordEvent(ctx, {
      kind: 'sso.disabled',
      organizationId: organization.id,
      subject: { type: 'sso', id: connection.id, name: connection.emailDomain ?? connection.issuer },
      data: { owners },
    });
    return { ...viewSso(ctx, connection), owners };
  });
}
