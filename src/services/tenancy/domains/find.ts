import { Domain } from '../../../database/models/domain.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import { commandLine, shellWord } from '../../../shell-word.ts';

/** The organization's domain of this name, Pending or Verified, or `not_found`. */
export async function requireDomain(organization: Organization, name: string): Promise<Domain> {
  const domain = await Domain.findOne({ where: { organizationId: organization.id, name } });
  if (domain !== null) return domain;
  throw new Refusal('not_found', `${organization.slug} has no domain ${name}.`, {
    hint: `Add it first: ${commandLine('idctl domain add', name, `--org ${shellWord(organization.slug)}`)}`,
  });
}
