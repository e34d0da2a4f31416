import type { z } from 'zod';
import { LdapConnection } from '../../database/models/ldap-connection.ts';
import { Organization } from '../../database/models/organization.ts';
import { refuseField } from '../../errors.ts';
import { canonicalEmail, domainOf } from '../domains/canonical.ts';
import { findOwner } from '../domains/owns.ts';
import { isUuid } from '../fields.ts';
import type { signInByLdapInput } from './schema.ts';

/**
 * The one directory that is asked, before any packet (security L1), or null: that of the organization named, or of the
 * one that verified the domain of the address, whose password is nobody else's business; else the only one there is.
 */
export async function chooseDirectory({
  org,
  username,
}: Pick<z.output<typeof signInByLdapInput>, 'org' | 'username'>): Promise<LdapConnection | null> {
  if (org !== undefined) return enabledOf(await organizationIdOf(org));
  const email = canonicalEmail(username);
  const owner = email === null ? null : await findOwner(domainOf(email));
  if (owner !== null) return enabledOf(owner);
  const [only, another] = await LdapConnection.findAll({ where: { enabled: true }, limit: 2 });
  if (another !== undefined) {
    throw refuseField('org', 'is required', 'Several organizations sign in by LDAP here: say which one.');
  }
  return only ?? null;
}

async function organizationIdOf(org: string): Promise<string | null> {
  if (isUuid(org)) return org.toLowerCase();
  const found = /^[a-z0-9-]+$/.test(org) ? await Organization.findOne({ where: { slug: org } }) : null;
  return found?.id ?? null;
}

async function enabledOf(organizationId: string | null): Promise<LdapConnection | null> {
  if (organizationId === null) return null;
  return LdapConnection.findOne({ where: { organizationId, enabled: true } });
}
