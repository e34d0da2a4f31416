import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { Organization } from '../../../database/models/organization.ts';
import { refuseField } from '../../../errors.ts';
import { canonicalEmail } from '../../foundation/domain-names/canonical.ts';
import { isUuid } from '../../foundation/fields.ts';
import type { signInByLdapInput } from '../ldap/schema.ts';
import { findGoverningDomain, findGoverningSettings } from './governing.ts';

/**
 * Chooses the one directory to ask, before any packet (security L1). It is that of the named
 * organization, else of the one that governs the address. Null if that organization has none.
 * Refuses an address that no organization governs.
 */
export async function chooseDirectory(
  ctx: Context,
  { org, username }: Pick<z.output<typeof signInByLdapInput>, 'org' | 'username'>,
): Promise<LdapConnection | null> {
  if (org !== undefined) return findDirectory(await organizationIdOf(org));
  const { organizationId } = await findGoverningSettings(ctx, canonicalEmail(username));
  if (organizationId !== null) return findDirectory(organizationId);
  throw refuseField(
    'org',
    'is required',
    'Name the organization, or use an address on its verified domain.',
  );
}

/** The enabled directory of an organization, or null. */
export async function findDirectory(organizationId: string | null): Promise<LdapConnection | null> {
  if (organizationId === null) return null;
  return LdapConnection.findOne({ where: { organizationId, enabled: true } });
}

/**
 * The organization whose directory a page offers to a canonical e-mail domain ('' for none), or
 * null if it offers none. Only the directory of a verified domain may replace the password form
 * (security L1).
 */
export async function describeDirectory(
  ctx: Context,
  domain: string,
): Promise<{ name: string; verified: boolean } | null> {
  const { organizationId, verified } = await findGoverningDomain(ctx, domain);
  const connection = await findDirectory(organizationId);
  if (connection === null) return null;
  const { name } = await Organization.findByPk(connection.organizationId, { rejectOnEmpty: true });
  return { name, verified };
}

async function organizationIdOf(org: string): Promise<string | null> {
  if (isUuid(org)) return org.toLowerCase();
  const found = /^[a-z0-9-]+$/.test(org)
    ? await Organization.findOne({ where: { slug: org } })
    : null;
  return found?.id ?? null;
}
