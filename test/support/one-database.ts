/** Slow tests that the suite runs on SQLite only. `npm run test:long` adds PostgreSQL. */
export const onOneDatabase = [
  'test/cli/**/*.test.ts',
  'test/e2e/**/*.test.ts',
  'test/faults/boot.test.ts',
  'test/faults/kills.test.ts',
  'test/http/reference.test.ts',
  'test/security/completion.test.ts',
  'test/security/outbound.test.ts',
  'test/security/terminal.test.ts',
  'test/services/daemon-configuration.test.ts',
  'test/services/database-move-guards.test.ts',
  'test/services/database-move.test.ts',
  'test/services/doctor.test.ts',
  'test/services/explain-truth.test.ts',
];
