import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import { shellWord } from '../../../shell-word.ts';
import { findVerified } from '../../foundation/domain-names/owns.ts';

/** Refuses to enable a connection for a domain that the organization has not verified (security I2). */
export async function requireTrustedDomain(
  ctx: Context,
  organization: Organization,
  emailDomain: string | null,
): Promise<void> {
  if (emailDomain === null) {
    throw new Refusal(
      'domain_unverified',
      'Another organization has verified the domain of this connection.',
      {
        hint: 'Save the connection with a domain of your own.',
      },
    );
  }
  if (ctx.config.trust.domains === 'off') return;
  if ((await findVerified(organization.id, emailDomain)) !== null) return;
  throw new Refusal('domain_unverified', `${organization.slug} has not verified ${emailDomain}.`, {
    hint: `Prove it first: idctl domain add ${shellWord(emailDomain)} --org ${shellWord(organization.slug)}, then idctl domain verify ${shellWord(emailDomain)} --org ${shellWord(organization.slug)}`,
  });
}

/** The refusal of a second enabled connection for one e-mail domain (spec §2.2). */
export const domainInUse = (emailDomain: string | null) => ({
  code: 'domain_taken' as const,
  message: `Another organization signs in with ${emailDomain}.`,
  hint: 'An e-mail domain belongs to exactly one enabled connection.',
});
