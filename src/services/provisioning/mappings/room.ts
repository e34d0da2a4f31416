import { Transaction } from 'sequelize';
import { GroupMapping } from '../../../database/models/group-mapping.ts';
import { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import { shellWord } from '../../../shell-word.ts';

/** How many mappings an organization may have: every sign-in reads all of them. */
export const mostMappings = 10_000;

/**
 * Refuses `conflict` when the organization would have more mappings than it may. Holds its row until the transaction
 * ends, so that two who add at once do not both take the last place.
 */
export async function requireRoom({ id, slug }: Organization, more: number): Promise<void> {
  await Organization.findByPk(id, { lock: Transaction.LOCK.NO_KEY_UPDATE });
  const stored = await GroupMapping.count({ where: { organizationId: id } });
  if (stored + more <= mostMappings) return;
  throw new Refusal('conflict', `${slug} would have more than ${mostMappings} group mappings.`, {
    hint: `Remove what is not needed any more; see them with: idctl mappings list --org ${shellWord(slug)}`,
  });
}
