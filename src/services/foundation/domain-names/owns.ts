import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import type { Late } from '../../../database/hold-order.ts';
import { Domain } from '../../../database/models/domain.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { domainOf } from './canonical.ts';

/**
 * The organization's verified domain with exactly this name, or null (security I2). It cannot be
 * removed until the transaction ends, so no sign-in outlives the domain.
 */
export function findVerified(
  organizationId: string,
  name: string,
  late?: Late,
): Promise<Domain | null> {
  return hold.domain({ organizationId, name, state: 'Verified' }, 'kept', late);
}

/** The organization's verified domains, without a lock: one may be removed at the same time. */
export async function findVerifiedNames(organizationId: string): Promise<Set<string>> {
  const domains = await Domain.findAll({
    where: { organizationId, state: 'Verified' },
    attributes: ['name'],
  });
  return new Set(domains.map(({ name }) => name));
}

/** Whether the organization has any verified domain. */
export async function hasVerifiedDomain(organizationId: string): Promise<boolean> {
  return (await findVerifiers([organizationId])).length > 0;
}

/** The ids of those of the organizations that have any verified domain. */
export async function findVerifiers(organizationIds: string[]): Promise<string[]> {
  const domains = await Domain.findAll({
    where: { organizationId: organizationIds, state: 'Verified' },
    attributes: ['organizationId'],
    group: ['organizationId'],
  });
  return domains.map(({ organizationId }) => organizationId);
}

/** The id of the organization that has verified the domain, or null. */
export async function findOwner(name: string): Promise<string | null> {
  return (await findOwners([name])).get(name) ?? null;
}

/** The organizations that have verified the domains: their ids by domain. */
export async function findOwners(names: string[]): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const domains = await Domain.findAll({ where: { name: names, state: 'Verified' } });
  return new Map(domains.map(({ name, organizationId }) => [name, organizationId]));
}

/** Whether the domain is verified, or an enabled connection uses it (`trust.domains: off`). */
export async function isClaimed(name: string): Promise<boolean> {
  if ((await findOwner(name)) !== null) return true;
  return (await SsoConnection.count({ where: { emailDomain: name, enabled: true } })) > 0;
}

/** Whether the organization has verified the domain of this canonical address, without a lock. */
export async function ownsAddress(organizationId: string, email: string | null): Promise<boolean> {
  return email !== null && (await findOwner(domainOf(email))) === organizationId;
}

/**
 * The first address whose domain the organization has verified, or null (security L6, I2). The
 * domain cannot be given up until the transaction ends. With `trust.domains: off`, returns the
 * first address, without a lock.
 */
export async function findUsableEmail(ctx: Context, organizationId: string, emails: string[]) {
  const [first] = emails;
  if (ctx.config.trust.domains === 'off' && first !== undefined) return first;
  // This is one query, because a directory entry may hold a thousand addresses.
  const verified = await findVerifiedNames(organizationId);
  for (const email of emails.filter((one) => verified.has(domainOf(one)))) {
    if ((await findVerified(organizationId, domainOf(email))) !== null) return email;
  }
  return null;
}
