import type { SettingWords } from '../../foundation/setting-words.ts';

/** The words for the settings of a directory connection. */
export const ldapWords = {
  uri: {
    label: 'Server',
    about: 'The server: `ldaps://HOST`, or `ldap://HOST` with StartTLS.',
    options: { '--uri <uri>': 'ldaps://HOST, or ldap://HOST with StartTLS' },
  },
  tls: {
    label: 'TLS',
    about: 'Whether the connection is encrypted; `ldap://` then uses StartTLS.',
    page: { label: 'TLS', values: { true: 'on', false: 'off' } },
    options: {
      '--tls': 'encrypt; ldap:// then uses StartTLS (default)',
      '--no-tls': 'do not encrypt; only on this machine, or if ldap.allowPlaintext is on',
    },
  },
  caCertificate: {
    label: 'CA certificate',
    about: 'The certificate authority of the directory (PEM); null for the public ones.',
    page: {
      label: 'Certificate authority (SHA-256)',
      about:
        'The certificate of the authority of the directory, as PEM text. Leave it empty for public ones.',
      values: { null: 'the public ones' },
    },
    options: {
      '--ca-file <file>': 'certificate authority of the directory, PEM',
      '--no-ca-file': 'trust the public authorities that Node.js trusts (default)',
    },
  },
  bindDn: {
    label: 'Bind DN',
    about: 'The DN of the account that searches the directory.',
    page: {
      label: 'Bind DN',
      about:
        'The DN of the account that searches the directory, such as cn=idctl,dc=example,dc=com.',
    },
    options: { '--bind-dn <dn>': 'DN of the account that searches the directory' },
  },
  bindPassword: {
    label: 'Bind password',
    about: 'The password of the bind DN. If absent, the stored one stays.',
    page: {
      label: 'Bind password',
      about: 'The password of the bind DN. Without it, a stored one stays.',
    },
  },
  searchBase: {
    label: 'Search base',
    about: 'The DN under which people are searched.',
    options: { '--search-base <dn>': 'DN under which people are searched' },
  },
  searchFilter: {
    label: 'Search filter',
    about: 'The filter that finds a person, such as `(uid={username})`.',
    options: { '--search-filter <filter>': 'such as (uid={username})' },
  },
  emailAttribute: {
    label: 'E-mail attribute',
    about: 'The attribute with the e-mail address, such as `mail`.',
    options: { '--email-attribute <name>': 'such as mail' },
  },
  givenNameAttribute: {
    label: 'Given name',
    about: 'The attribute with the given name.',
    options: { '--given-name-attribute <name>': 'default: givenName' },
  },
  familyNameAttribute: {
    label: 'Family name',
    about: 'The attribute with the family name.',
    options: { '--family-name-attribute <name>': 'default: sn' },
  },
  groupsAttribute: {
    label: 'Groups attribute',
    about: 'The attribute with the groups, such as `memberOf`; null for none.',
    page: {
      label: 'Groups attribute',
      about: 'The attribute with the groups, such as memberOf. Leave it empty to read no groups.',
    },
    options: {
      '--groups-attribute <name>': 'such as memberOf; feeds the group mappings',
      '--no-groups-attribute': 'do not read groups (default)',
    },
  },
} satisfies Record<string, SettingWords>;
