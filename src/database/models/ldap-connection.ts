import type { Sequelize } from 'sequelize';
import {
  flag,
  instantColumn,
  key,
  optional,
  Row,
  table,
  textColumn,
  to,
  unique,
} from './columns.ts';

/** An organization's LDAP connection (spec §2.5). */
export class LdapConnection extends Row<LdapConnection> {
  declare id: string;
  declare organizationId: string;
  declare uri: string;
  /** With `ldap://` it means StartTLS. */
  declare tls: boolean;
  /** The trusted certificates (PEM). Null means those that this instance trusts. */
  declare caCertificate: string | null;
  declare bindDn: string;
  /** Sealed. */
  declare bindPassword: string;
  declare searchBase: string;
  declare searchFilter: string;
  declare emailAttribute: string;
  declare givenNameAttribute: string;
  declare familyNameAttribute: string;
  /** Null means that groups are not read. */
  declare groupsAttribute: string | null;
  declare enabled: boolean;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initLdapConnection(sequelize: Sequelize): void {
  LdapConnection.init(
    {
      id: key(),
      organizationId: to('organizations'),
      uri: textColumn(),
      tls: flag(),
      caCertificate: optional(textColumn()),
      bindDn: textColumn(),
      bindPassword: textColumn(),
      searchBase: textColumn(),
      searchFilter: textColumn(),
      emailAttribute: textColumn(),
      givenNameAttribute: textColumn(),
      familyNameAttribute: textColumn(),
      groupsAttribute: optional(textColumn()),
      enabled: flag(),
      createdAt: instantColumn(),
    },
    table(sequelize, 'ldap_connections', [
      unique('ldap_connections_organization_id', ['organization_id']),
    ]),
  );
}
