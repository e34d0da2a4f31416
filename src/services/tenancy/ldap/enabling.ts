import type { Context } from '../../../context.ts';
import { Domain } from '../../../database/models/domain.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import { shellWord } from '../../../shell-word.ts';

/** Refuses to enable a directory of an organization without a verified domain: nobody could sign in (security I2). */
export async function requireAnyDomain(ctx: Context, organization: Organization): Promise<void> {
  if (ctx.config.trust.domains === 'off') return;
  const verified = await Domain.count({ where: { organizationId: organization.id, state: 'Verified' } });
  if (verified > 0) return;
  throw new Refusal('domain_unverified', `${organization.slug} has not verified any domain.`, {
    hint: `People are let in by addresses on verified domains. Prove one first: idctl domain add DOMAIN --org ${shellWord(organization.slug)}, then idctl domain verify DOMAIN --org ${shellWord(organization.slug)}`,
  });
}
