import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { Domain } from '../../../database/models/domain.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';

/**
 * Marks a claim Verified if it is still the claim that was proven (security D4): a compare-and-set
 * on token and state. The index admits only one of two organizations.
 */
export async function markVerified(
  ctx: Context,
  organization: Organization,
  domain: Domain,
  by: 'dns' | 'operator',
): Promise<Domain> {
  await transaction(async () => {
    const claim = { id: domain.id, token: domain.token, state: 'Pending' as const };
    const proof = { state: 'Verified' as const, verifiedAt: ctx.now, verifiedBy: by };
    const [changed] = await refusingDuplicate(Domain.update(proof, { where: claim }), {
      code: 'domain_taken',
      message: `${domain.name} is verified by another organization.`,
      hint: 'It has to remove the domain first; a domain belongs to exactly one organization.',
    });
    if (changed === 0) {
      throw new Refusal('conflict', `${domain.name} was changed meanwhile.`, {
        hint: 'Look at it, then verify again.',
      });
    }
    await recordEvent(ctx, {
      kind: 'domain.verified',
      organizationId: organization.id,
      subject: { type: 'domain', id: domain.id, name: domain.name },
      data: { by },
    });
    await takeFromOthers(ctx, organization.id, domain.name);
  });
  return domain.reload();
}

/** Other organizations' connections for the domain lose it (security I2). */
async function takeFromOthers(
  ctx: Context,
  organizationId: string,
  emailDomain: string,
): Promise<void> {
  const others = await SsoConnection.findAll({
    where: { emailDomain, organizationId: { [Op.ne]: organizationId } },
  });
  for (const connection of others) {
    await connection.update({ emailDomain: null, enabled: false });
    await recordEvent(ctx, {
      kind: 'sso.domain.lost',
      organizationId: connection.organizationId,
      subject: { type: 'sso', id: connection.id, name: emailDomain },
      data: { emailDomain },
    });
  }
}
