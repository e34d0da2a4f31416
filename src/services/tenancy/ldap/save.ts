import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { refuseField } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireAnyDomain } from './enabling.ts';
import { requireEncryption } from './encryption.ts';
import type { saveLdapInput } from './schema.ts';
import { requireSameServer, sealBindPassword } from './secret.ts';
import { viewLdap } from './settings.ts';

type Input = z.output<typeof saveLdapInput>;

/**
 * Saves the organization's directory whole (spec §2.5). A blank bind password keeps the stored one, but only for
 * the same server, CA certificate, bind DN and TLS mode (security S10).
 */
export async function saveLdap(ctx: Context, input: Input) {
  const { organization } = await requireAuthority(ctx, 'ldap.change', input.org);
  requireEncryption(ctx, input);
  return transaction(async () => {
    if (input.enabled) await requireAnyDomain(ctx, organization);
    const stored = await LdapConnection.findOne({ where: { organizationId: organization.id }, lock: true });
    const { org: _, ...settings } = input;
    const id = stored?.id ?? orderedId();
    const values = { ...settings, bindPassword: passwordToStore(ctx, input, id, stored) };
    const writing =
      stored === null
        ? LdapConnection.create({ id, organizationId: organization.id, createdAt: ctx.now, ...values })
        : stored.update(values);
    const connection = await refusingDuplicate(writing, {
      code: 'conflict',
      message: 'Somebody else has just saved a connection of this organization.',
      hint: 'Look at it, then save again.',
    });
    await recordEvent(ctx, {
      kind: 'ldap.saved',
      organizationId: organization.id,
      subject: { type: 'ldap', id, name: input.uri },
      data: { bindDn: input.bindDn, tls: input.tls, enabled: input.enabled },
    });
    return viewLdap(connection);
  });
}

function passwordToStore(ctx: Context, input: Input, id: string, stored: LdapConnection | null): string {
  if (input.bindPassword) return sealBindPassword(ctx, id, input.bindPassword);
  if (stored === null)
    throw refuseField('bindPassword', 'is required', 'Give the password of the account that searches.');
  requireSameServer(stored, input);
  return stored.bindPassword;
}
