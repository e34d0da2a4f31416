import type { SettingWords } from '../../foundation/setting-words.ts';

/** The words for the settings of a client. */
export const clientWords = {
  name: { label: 'Name', about: 'The name that people read when they sign in.' },
  homeUrl: {
    label: 'Home page',
    about:
      'Where the application begins: https, or http on localhost. The account page shows it to people who can use it.',
    options: { '--home-url <url>': 'its address, for the account page' },
    clearing: { '--no-home-url': 'remove it from the account page' },
  },
  redirectUris: {
    label: 'Redirect URIs',
    about:
      'The exact URIs to which people return after signing in: https, or http on localhost. An application that a proxy protects (forward auth) needs none.',
    options: {
      '--redirect-uri <uri...>': 'where people return after sign-in: the exact https URL',
    },
  },
  postLogoutRedirectUris: {
    label: 'After sign-out',
    about: 'The exact URIs to which people may return after signing out.',
    options: { '--post-logout-redirect-uri <uri...>': 'where people go after sign-out' },
    clearing: { '--no-post-logout-redirect-uri': 'remove all of these URIs' },
  },
  backchannelLogoutUri: {
    label: 'Back-channel logout',
    about: 'The URI at which idctl tells the application that a session has ended.',
    options: { '--backchannel-logout-uri <uri>': 'where idctl reports ended sessions' },
    clearing: { '--no-backchannel-logout-uri': 'remove this URI' },
  },
  forwardAuthOrigins: {
    label: 'Forward auth',
    about: 'The origins that a proxy protects by asking idctl (forward auth).',
    options: {
      '--forward-auth-origin <origin...>': 'an origin that a proxy protects',
    },
    clearing: { '--no-forward-auth-origin': 'remove all of these origins' },
  },
  public: {
    label: 'Public',
    about: 'Whether the application has no secret, like a program on a device.',
    page: { label: 'Without a secret' },
  },
  pkce: {
    label: 'PKCE',
    about: 'Whether the application must send a PKCE challenge. One without a secret must.',
    page: { label: 'PKCE', values: { true: 'Required', false: 'Not required' } },
  },
  idTokenAlg: {
    label: 'ID token signed by',
    about: 'The algorithm that signs the ID tokens of the application.',
    options: { '--id-token-alg <alg>': 'RS256 (default) or EdDSA' },
  },
  project: {
    label: 'Project',
    about: 'Only members of this project can use the application.',
    options: { '--project <project>': 'let only its members sign in' },
    clearing: { '--no-project': 'let every member sign in' },
  },
  role: {
    label: 'Least role',
    about: 'The lowest role in the project; default: viewer.',
    options: { '--role <role>': 'the lowest project role that can sign in (default: viewer)' },
  },
} satisfies Record<string, SettingWords>;
