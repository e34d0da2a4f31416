import type { LdapConnection } from '../../../database/models/ldap-connection.ts';

/** What is set of a connection, but for its password and whether it is enabled. */
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
