/**
 * What is about a terminal, a browser or the network, and takes long: the suite runs it on SQLite alone, to stay under a
 * quarter of an hour, and `npm run test:long` on PostgreSQL too.
 */
export const onOneDatabase = [
  'test/cli/**/*.test.ts',
  'test/e2e/**/*.test.ts',
  'test/faults/boot.test.ts',
  'test/faults/log.test.ts',
  'test/http/reference.test.ts',
  'test/security/completion.test.ts',
  'test/security/outbound.test.ts',
  'test/security/terminal.test.ts',
];
