// Which tests run where. `npm test` runs everything on SQLite, and what concerns data on PostgreSQL
// too. `npm run test:long` runs the rest: the files that `npm test` leaves out, on both databases,
// and on PostgreSQL those that it runs on SQLite only.

const files = (folder: string, ...names: string[]) =>
  names.map((name) => `test/${folder}/${name}.test.ts`);

/** Tests that start many programs or wait for long. Only `npm run test:long` runs them. */
export const slow = [
  ...files('cli', 'ci', 'remote'),
  ...files('e2e', 'applications', 'directory-pages', 'forward-auth', 'pages', 'passkeys'),
  ...files('e2e', 'accessibility', 'organization', 'organization-activity', 'organization-parts'),
  ...files(
    'e2e',
    'organization-saml',
    'organization-sign-in',
    'pipeline',
    'recovery',
    'screenshots',
    'setup-link',
  ),
  ...files('faults', 'boot', 'clock', 'jobs-wait', 'killed-copies', 'killed-sign-ins', 'places'),
  ...files('faults', 'releases', 'stalled-writes'),
  ...files('security', 'completion', 'limits-storm', 'root-and-owner'),
  ...files('services', 'database-move-guards', 'database-move-kills'),
];

/** The same, for tests without a database. */
export const slowOnNone = files('install', 'operations');

/** Tests whose result does not depend on the database. `npm test` runs them on SQLite only. */
export const neutral = [
  'test/cli/**/*.test.ts',
  'test/e2e/**/*.test.ts',
  ...files('faults', 'file-handles', 'kills'),
  ...files(
    'http',
    'caddy',
    'door-*',
    'forward-auth',
    'matrix',
    'matrix-commands',
    'nginx',
    'pages*',
  ),
  ...files('http', 'public-clients', 'receive', 'reference', 'release', 'withheld'),
  ...files('security', 'approval-waits', 'asvs*', 'callbacks'),
  ...files('security', 'cookie-names', 'document-secrets', 'expired-tokens', 'forward-auth'),
  ...files('security', 'ldap', 'ldap-tries', 'limits-storm'),
  ...files('security', 'login-application', 'mail-guesses', 'mix-up', 'next-commands', 'notices'),
  ...files('security', 'one-directory', 'outbound', 'outside-words', 'other-settings'),
  ...files('security', 'passkey-edges', 'passkey-thieves', 'remote', 'shapes', 'sign-up-cookie'),
  ...files('security', 'social', 'sso', 'terminal', 'tests-at-once', 'webhooks'),
  ...files('services', 'client-test', 'daemon-configuration', 'database-move', 'doctor'),
  ...files('services', 'explain', 'explain-truth', 'ldap-test', 'mail-test'),
  ...files('services', 'password', 'sso-attempts', 'sso-test', 'webhooks'),
];
