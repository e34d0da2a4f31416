import { column, rowOf } from './columns.ts';
import type { EventActor } from './event.ts';

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
    /** Whether an owner or the operator has approved where the connection points (security I8). */
    approved: column.withDefault(column.flag(), false),
    /** Where it pointed when it was last approved. Null while approved, and if it never was. */
    lastApproved: column.optional(column.json<Record<string, string | boolean | null>>()),
    /** Who last changed where it points; null if unknown. */
    changedBy: column.optional(column.json<EventActor>()),
    /** Whether an owner or the operator switched it off. */
    offByOwner: column.withDefault(column.flag(), false),
    createdAt: column.date(),
  },
  () => [column.unique('ldap_connections_organization_id', ['organization_id'])],
) {}
