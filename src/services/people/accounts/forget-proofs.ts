import { Op } from 'sequelize';
import { Account } from '../../../database/models/account.ts';

/**
 * Marks whom the owner of a domain has vouched for, now that the domain is given up: whoever verifies it next finds
 * nobody whom an earlier owner made (security I3). Until then the accounts go on as they are, for a mailed code too.
 */
export async function forgetProofs(domain: string): Promise<void> {
  const proven = { emailProof: 'domain' as const, email: { [Op.endsWith]: `@${domain}` } };
  await Account.update({ emailProof: 'former domain' }, { where: proven });
}
