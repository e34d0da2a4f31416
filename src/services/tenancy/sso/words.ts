import type { SettingWords } from '../../foundation/setting-words.ts';

/** The words for the settings of a single sign-on connection. */
export const ssoWords = {
  emailDomain: {
    label: 'E-mail domain',
    about: 'The e-mail domain of the people who sign in.',
    options: { '--domain <domain>': 'e-mail domain of the people who sign in' },
  },
  issuer: {
    label: 'Issuer',
    about: 'The issuer URL of the provider, whose endpoints are discovered.',
    page: { label: 'Provider (issuer)' },
    options: { '--issuer <url>': 'issuer URL of the provider; its endpoints are discovered' },
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
      '--auto-remove': 'remove a synced membership when the person leaves its group',
      '--no-auto-remove': 'keep it (default)',
    },
  },
  absentGroups: {
    label: 'Missing groups mean',
    about: 'What a missing groups claim means: the groups are unknown, or there are none.',
    options: {
      '--absent-groups <what>': 'what a missing groups claim means: unknown (default) or none',
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
      '--no-ignore-email-verified': 'refuse a sign-in if that claim is false (default)',
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
      '--no-require-local-two-factor': 'leave the second factor to the provider (default)',
    },
  },
} satisfies Record<string, SettingWords>;
