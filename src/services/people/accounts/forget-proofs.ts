import { Op } from 'sequelize';
import { Account } from '../../../database/models/account.ts';

/**
 * Marks the accounts whose address the owner of a given-up domain has proved. The next owner of the
 * domain then trusts none of an earlier owner's accounts (security I3). Until then the accounts
 * stay as they are, for a mailed code too.
 */
export async function forgetProofs(domain: string): Promise<void> {
  const proven = { emailProof: 'domain' as const, email: { [Op.endsWith]: `@${domain}` } };
  await Account.update({ emailProof: 'former domain' }, { where: proven });
}
