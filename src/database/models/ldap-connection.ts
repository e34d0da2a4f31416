import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** An organization's LDAP connection (spec §2.5). */
export class LdapConnection extends Row<LdapConnection> {
  declare id: string;
  declare organizationId: string;
  declare uri: string;
  /** Whether TLS is used. For an `ldap://` URI, this means StartTLS. */
  declare tls: boolean;
  /** The trusted certificates (PEM). Null for those that the instance trusts. */
  declare caCertificate: string | null;
  declare bindDn: string;
  /** Sealed. */
  declare bindPassword: string;
  declare searchBase: string;
  declare searchFilter: string;
  declare emailAttribute: string;
  declare givenNameAttribute: string;
  declare familyNameAttribute: string;
  /** Null if groups are not read. */
  declare groupsAttribute: string | null;
  declare enabled: boolean;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initLdapConnection(sequelize: Sequelize): void {
  LdapConnection.init(
    {
      id: column.key(),
      organizationId: column.to('organizations'),
      uri: column.string(),
      tls: column.flag(),
      caCertificate: column.optional(column.string()),
      bindDn: column.string(),
      bindPassword: column.string(),
      searchBase: column.string(),
      searchFilter: column.string(),
      emailAttribute: column.string(),
      givenNameAttribute: column.string(),
      familyNameAttribute: column.string(),
      groupsAttribute: column.optional(column.string()),
      enabled: column.flag(),
      createdAt: column.date(),
    },
    table(sequelize, 'ldap_connections', [
      column.unique('ldap_connections_organization_id', ['organization_id']),
    ]),
  );
}
