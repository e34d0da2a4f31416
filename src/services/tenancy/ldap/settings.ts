import type { LdapConnection } from '../../../database/models/ldap-connection.ts';

/** The settings of a connection, except its password and whether it is enabled. */
export function directorySettingsOf(connection: LdapConnection) {
  return {
    uri: connection.uri,
    tls: connection.tls,
    caCertificate: connection.caCertificate,
    bindDn: connection.bindDn,
    searchBase: connection.searchBase,
    searchFilter: connection.searchFilter,
    emailAttribute: connection.emailAttribute,
    givenNameAttribute: connection.givenNameAttribute,
    familyNameAttribute: connection.familyNameAttribute,
    groupsAttribute: connection.groupsAttribute,
  };
}
