import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { parse } from '../../../input.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { saveSso } from './save.ts';
import { type changeSsoInput, saveSsoInput } from './schema.ts';

/** Saves the connection with what is given; what is absent stays as stored, or is its default (interface page, `set`). */
export async function changeSso(ctx: Context, input: z.output<typeof changeSsoInput>) {
  const { organization } = await requireAuthority(ctx, 'sso.change', input.org);
  return transaction(async () => {
    const stored = await SsoConnection.findOne({ where: { organizationId: organization.id }, lock: true });
    return saveSso(ctx, parse(saveSsoInput, { ...(stored === null ? {} : settingsOf(stored)), ...input }));
  });
}

function settingsOf(stored: SsoConnection) {
  return {
    ...(stored.emailDomain === null ? {} : { emailDomain: stored.emailDomain }),
    issuer: stored.issuer,
    clientId: stored.clientId,
    redirectUri: stored.redirectUri,
    enabled: stored.enabled,
    syncOnLogin: stored.syncOnLogin,
    groupsClaim: stored.groupsClaim,
    autoRemove: stored.autoRemove,
    absentGroups: stored.absentGroups,
    ignoreEmailVerified: stored.ignoreEmailVerified,
    requireLocalTwoFactor: stored.requireLocalTwoFactor,
  };
}
