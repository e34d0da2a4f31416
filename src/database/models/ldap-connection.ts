import { column, rowOf } from './columns.ts';

/** An organization's LDAP connection (spec §2.5). */
export class LdapConnection extends rowOf(
  'ldap_connections',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    uri: column.string(),
    /** Whether TLS is used. For an `ldap://` URI, this means StartTLS. */
    tls: column.flag(),
    /** The trusted certificates (PEM). If null, the instance's trusted certificates apply. */
    caCertificate: column.optional(column.string()),
    bindDn: column.string(),
    /** Sealed. */
    bindPassword: column.string(),
    searchBase: column.string(),
    searchFilter: column.string(),
    emailAttribute: column.string(),
    givenNameAttribute: column.string(),
    familyNameAttribute: column.string(),
    /** Null if groups are not read. */
    groupsAttribute: column.optional(column.string()),
    enabled: column.flag(),
    createdAt: column.date(),
  },
  () => [column.unique('ldap_connections_organization_id', ['organization_id'])],
) {}
