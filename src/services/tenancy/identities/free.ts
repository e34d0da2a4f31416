import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { detachIdentities } from './detach.ts';

/**
 * Takes the organization's keys of a kind off their accounts, those of connections that were removed too, with the
 * sessions that came by them (security I1); answers whose they were. Call it inside a transaction.
 */
export async function freeAccounts(
  ctx: Context,
  which: { kind: 'sso' | 'ldap'; organizationId: string; issuer?: string },
): Promise<{ people: string[]; sessionsEnded: number }> {
  const identities = await Identity.findAll({
    where: which,
    include: { model: Account, as: 'account', required: true },
    order: ['id'],
  });
  const people = identities.map(({ account }) => account.email ?? account.name);
  return { people, sessionsEnded: await detachIdentities(ctx, identities) };
}
