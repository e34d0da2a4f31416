/**
 * What is about a terminal, a browser, the network or the configuration of a daemon, and takes long: the suite runs it on
 * SQLite alone, to stay short, and `npm run test:long` on PostgreSQL too.
 */
export const onOneDatabase = [
  'test/cli/**/*.test.ts',
  'test/e2e/**/*.test.ts',
  'test/faults/boot.test.ts',
  'test/http/reference.test.ts',
  'test/security/completion.test.ts',
  'test/security/outbound.test.ts',
  'test/security/terminal.test.ts',
  'test/services/daemon-configuration.test.ts',
  'test/services/database-move-guards.test.ts',
  'test/services/doctor.test.ts',
  'test/services/explain-truth.test.ts',
];
