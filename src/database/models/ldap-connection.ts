import { column, rowOf } from './columns.ts';

/** An organization's LDAP connection (spec §2.5). */
export class LdapConnection extends rowOf(
  'ldap_connections',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    uri: column.string(),
    /** With `ldap://` it means StartTLS. */
    tls: column.flag(),
    /** The trusted certificates (PEM). Null means those that this instance trusts. */
    caCertificate: column.optional(column.string()),
    bindDn: column.string(),
    /** Sealed. */
    bindPassword: column.string(),
    searchBase: column.string(),
    searchFilter: column.string(),
    emailAttribute: column.string(),
    givenNameAttribute: column.string(),
    familyNameAttribute: column.string(),
    /** Null means that groups are not read. */
    groupsAttribute: column.optional(column.string()),
    enabled: column.flag(),
    createdAt: column.date(),
  },
  () => [column.unique('ldap_connections_organization_id', ['organization_id'])],
) {}
