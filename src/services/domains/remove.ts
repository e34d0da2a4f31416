import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { SsoConnection } from '../../database/models/sso-connection.ts';
import { transaction } from '../../database/transaction.ts';
import { forgetProofs } from '../accounts/forget-proofs.ts';
import { requireAuthority } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { findAffected, nobodyAffected } from '../sso/affected.ts';
import { requireDomain } from './find.ts';
import type { removeDomainInput } from './schema.ts';

/**
 * Gives a domain up (spec §3.1). Removing a verified one switches the connection for it off in the
 * same transaction, and names whom it touches, the owners first of all (security D5).
 */
export async function removeDomain(ctx: Context, input: z.output<typeof removeDomainInput>) {
  const { organization } = await requireAuthority(ctx, 'domains.change', input.org);
  return transaction(async () => {
    const domain = await requireDomain(organization, input.domain);
    const connection = await SsoConnection.findOne({
      where: { organizationId: organization.id, emailDomain: domain.name, enabled: true },
    });
    const disabled =
      domain.state === 'Verified' && ctx.config.trust.domains === 'enforce' ? connection : null;
    await disabled?.update({ enabled: false });
    await domain.destroy();
    if (domain.state === 'Verified') await forgetProofs(domain.name);
    const affected = disabled === null ? nobodyAffected : await findAffected(disabled);
    await recordEvent(ctx, {
      kind: 'domain.removed',
      organizationId: organization.id,
      subject: { type: 'domain', id: domain.id, name: domain.name },
      data: { state: domain.state, ssoDisabled: disabled !== null, owners: affected.owners },
    });
    return { domain: domain.name, ssoDisabled: disabled !== null, ...affected };
  });
}
