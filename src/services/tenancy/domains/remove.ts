import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { forgetProofs } from '../../people/accounts/forget-proofs.ts';
import { endSessionsByDomain } from '../../people/sessions/end.ts';
import { findAffected, nobodyAffected } from '../sso/affected.ts';
import { requireDomain } from './find.ts';
import type { removeDomainInput } from './schema.ts';

/**
 * Gives a domain up (spec §3.1). Removing a verified one switches the connection for it off and ends the
 * sessions that came by it, in the same transaction, and names whom it touches, the owners first of all (security D5).
 */
export async function removeDomain(ctx: Context, input: z.output<typeof removeDomainInput>) {
  const { organization } = await requireAuthority(ctx, 'domains.change', input.org);
  return transaction(async () => {
    const domain = await requireDomain(organization, input.domain);
    const connection = await SsoConnection.findOne({
      where: { organizationId: organization.id, emailDomain: domain.name, enabled: true },
    });
    const carriesTrust = domain.state === 'Verified' && ctx.config.trust.domains === 'enforce';
    const disabled = carriesTrust ? connection : null;
    await disabled?.update({ enabled: false });
    await domain.destroy();
    if (domain.state === 'Verified') await forgetProofs(domain.name);
    const affected = disabled === null ? nobodyAffected : await findAffected(disabled);
    const shutOut = carriesTrust ? await findShutOut(organization, domain.name) : nobodyAffected;
    const sessionsEnded = carriesTrust ? await endSessionsByDomain(ctx, organization.id, domain.name) : 0;
    const both = (who: 'people' | 'owners') => [...new Set([...affected[who], ...shutOut[who]])];
    const [people, owners] = [both('people'), both('owners')];
    await recordEvent(ctx, {
      kind: 'domain.removed',
      organizationId: organization.id,
      subject: { type: 'domain', id: domain.id, name: domain.name },
      data: { state: domain.state, ssoDisabled: disabled !== null, owners, sessionsEnded },
    });
    const view = { domain: domain.name, ssoDisabled: disabled !== null, ...affected, people, owners };
    return { ...view, sessionsEnded };
  });
}

/** Those of the domain who sign in by the directory, which lets nobody in by an address on it any more (security L6). */
async function findShutOut({ id: organizationId }: Organization, domain: string) {
  const directory = await LdapConnection.findOne({ where: { organizationId, enabled: true } });
  return directory === null ? nobodyAffected : findAffected(directory, domain);
}
