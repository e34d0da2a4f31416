import { Op } from 'sequelize';
import { Account } from '../../database/models/account.ts';

/**
 * Ends what the owner of a domain has proved of its addresses, now that the domain is given up: whoever verifies it
 * next finds nobody whom an earlier owner made (security I3). The accounts go on as they are until then.
 */
export async function forgetProofs(domain: string): Promise<void> {
  const proven = { emailProof: 'domain' as const, email: { [Op.endsWith]: `@${domain}` } };
  await Account.update({ emailProof: 'auto' }, { where: proven });
}
