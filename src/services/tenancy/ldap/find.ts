import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import { shellWord } from '../../../shell-word.ts';

/** The organization's connection; refuses `not_found`. */
export async function requireDirectory(organization: Organization): Promise<LdapConnection> {
  const connection = await LdapConnection.findOne({ where: { organizationId: organization.id } });
  if (connection !== null) return connection;
  throw new Refusal('not_found', `${organization.slug} has no LDAP connection.`, {
    hint: `Make one: idctl ldap set --org ${shellWord(organization.slug)} --uri U --bind-dn DN --password-stdin --search-base B --search-filter F --email-attribute A`,
  });
}
