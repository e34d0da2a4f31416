import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { parse } from '../../../input.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { saveLdap } from './save.ts';
import { type changeLdapInput, saveLdapInput } from './schema.ts';
import { settingsOf } from './settings.ts';

/** Saves the directory with what is given; what is absent stays as stored, or is its default (interface page, `set`). */
export async function changeLdap(ctx: Context, input: z.output<typeof changeLdapInput>) {
  const { organization } = await requireAuthority(ctx, 'ldap.change', input.org);
  return transaction(async () => {
    const stored = await LdapConnection.findOne({ where: { organizationId: organization.id }, lock: true });
    const before = stored === null ? {} : { ...settingsOf(stored), enabled: stored.enabled };
    return saveLdap(ctx, parse(saveLdapInput, { ...before, ...input }));
  });
}
