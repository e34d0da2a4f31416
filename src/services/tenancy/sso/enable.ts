import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { domainInUse, requireTrustedDomain } from './enabling.ts';
import { requireConnection } from './find.ts';
import type { ssoRefInput } from './schema.ts';
import { viewSso } from './view.ts';

/** Lets people sign in through the connection; its domain must be verified by the organization now (security I2). */
export async function enableSso(ctx: Context, input: z.output<typeof ssoRefInput>) {
  const { organization } = await requireAuthority(ctx, 'sso.change', input.org);
  return transaction(async () => {
    const connection = await requireConnection(organization);
    if (connection.enabled) return viewSso(ctx, connection);
    await requireTrustedDomain(ctx, organization, connection.emailDomain);
    await refusingDuplicate(connection.update({ enabled: true }), domainInUse(connection.emailDomain));
    await recordEvent(ctx, {
      kind: 'sso.enabled',
      organizationId: organization.id,
      subject: { type: 'sso', id: connection.id, name: connection.emailDomain ?? connection.issuer },
    });
    return viewSso(ctx, connection);
  });
}
