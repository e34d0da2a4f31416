import type { SettingWords } from '../../foundation/setting-words.ts';

/** The words for the settings of a single sign-on connection. */
export const ssoWords = {
  kind: {
    label: 'Kind',
    about: 'The protocol: `oidc` for OpenID Connect, or `saml`.',
    page: { label: 'Protocol', values: { oidc: 'OpenID Connect', saml: 'SAML' } },
  },
  emailDomain: {
    label: 'E-mail domain',
    about: 'The e-mail domain of the people who sign in.',
    options: { '--domain <domain>': 'e-mail domain of the people who sign in' },
  },
  issuer: {
    label: 'Issuer',
    about: 'The issuer URL of the provider, whose endpoints are discovered.',
    page: { label: 'Provider (issuer)' },
    options: { '--issuer <url>': 'issuer URL of the provider' },
  },
  clientId: {
    label: 'Client ID',
    about: 'The client that is registered at the provider.',
    options: { '--client-id <id>': 'the client registered at the provider' },
  },
  clientSecret: {
    label: 'Client secret',
    about: 'The secret of the client. If absent, the stored one stays.',
  },
  redirectUri: {
    label: 'Redirect URI',
    about: 'The URI to which the provider returns people; null for this instance.',
    page: { label: 'Redirect URI', values: { null: 'of this site' } },
    options: { '--redirect-uri <uri>': "default: this instance's /auth/sso/callback" },
  },
  metadataUrl: {
    label: 'Metadata URL',
    about:
      'With SAML: the URL of the metadata of the provider, which idctl reads every day. Give it, or `metadataXml`.',
    page: { label: 'Metadata', values: { null: 'given as text' } },
    options: { '--saml-metadata <url|file>': 'metadata of a SAML provider' },
  },
  metadataXml: {
    label: 'Metadata',
    about: 'With SAML: the metadata of the provider, as XML. Give it, or `metadataUrl`.',
  },
  emailAttribute: {
    label: 'E-mail attribute',
    about: 'With SAML: the attribute with the address; null for the usual ones.',
    page: {
      label: 'E-mail attribute',
      about: 'The attribute with the e-mail address. Leave it empty to read the usual ones.',
      values: { null: 'the usual ones' },
    },
    options: { '--email-attribute <name>': 'SAML attribute with the address' },
  },
  groupsAttribute: {
    label: 'Groups attribute',
    about: 'With SAML: the attribute with the names of the groups; null for the usual ones.',
    page: {
      label: 'Groups attribute',
      about: 'The attribute with the names of the groups. Leave it empty to read the usual ones.',
      values: { null: 'the usual ones' },
    },
    options: { '--groups-attribute <name>': 'SAML attribute with the group names' },
  },
  subjectAttribute: {
    label: 'Subject attribute',
    about: 'With SAML: the attribute that identifies the person; null for the NameID.',
    page: {
      label: 'Subject attribute',
      about:
        'An attribute that identifies the person and never changes. Leave it empty to use the NameID.',
      values: { null: 'none: the NameID' },
    },
    options: {
      '--subject-attribute <name>': 'SAML attribute that identifies the person',
    },
  },
  encryptAssertions: {
    label: 'Encrypted assertions',
    about: 'With SAML: whether idctl offers the provider a key to encrypt assertions.',
    page: {
      label: 'Encrypted assertions',
      about:
        'If they are accepted, the metadata of this site has a key, with which the provider encrypts them.',
      values: { true: 'accepted', false: 'refused' },
    },
    options: {
      '--encrypt-assertions': 'offer a key for encrypted SAML assertions',
      '--no-encrypt-assertions': 'do not offer one (default)',
    },
  },
  groupsClaim: {
    label: 'Groups claim',
    about: 'The claim with the names of the groups.',
    options: { '--groups-claim <claim>': 'claim with the group names (default: groups)' },
  },
  syncOnLogin: {
    label: 'Sync at every sign-in',
    about: 'Whether the groups of every sign-in count, or only those of the first.',
    options: {
      '--sync-on-login': 'sync groups at every sign-in (default)',
      '--no-sync-on-login': 'sync groups only at the first sign-in',
    },
  },
  autoRemove: {
    label: 'Auto-remove',
    about: 'Whether a synced membership ends when the person leaves its group.',
    options: {
      '--auto-remove': 'remove a synced role when its group is left',
      '--no-auto-remove': 'keep it (default)',
    },
  },
  absentGroups: {
    label: 'Missing groups mean',
    about: 'What a missing groups claim means: the groups are unknown, or there are none.',
    options: {
      '--absent-groups <what>': 'if groups are missing: unknown (default), none',
    },
  },
  ignoreEmailVerified: {
    label: 'Ignore email_verified',
    about: 'Whether a sign-in is allowed although the provider says `email_verified: false`.',
    page: {
      label: 'Addresses that the provider has not verified',
      values: { true: 'accepted', false: 'refused' },
    },
    options: {
      '--ignore-email-verified': 'ignore the email_verified claim of the provider',
      '--no-ignore-email-verified': 'refuse if that claim is false (default)',
    },
  },
  requireLocalTwoFactor: {
    label: 'Local two-factor',
    about: "Whether idctl asks for the account's own second factor too.",
    page: {
      label: 'Second factor of this site',
      values: { true: 'always required', false: 'not always required' },
    },
    options: {
      '--require-local-two-factor': "also require idctl's second factor",
      '--no-require-local-two-factor': 'rely on the provider for it (default)',
    },
  },
} satisfies Record<string, SettingWords>;
