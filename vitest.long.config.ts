import { defineConfig } from 'vitest/config';
import { neutral, slow, slowOnNone } from './test/support/where.ts';

// The tests that take minutes: `npm run test:long`. The folders are as in the suite: `pure` runs
// once, and the others run on both databases. `release` tests the packages that people install.
const tests = (folder: string) => [`test/long/${folder}/**/*.long.test.ts`];

const on = (database: string, also: string[] = []) => ({
  extends: true as const,
  test: {
    name: database,
    include: [...tests('!(pure|release)'), ...also],
    globalSetup: [`test/support/setup-${database}.ts`, 'test/support/setup-release.ts'],
  },
});

// Tests of the optional driver: the database suite, lists of Users with queries that run out of
// time, and every transcript, including `init`.
const sqlite3 = {
  extends: true as const,
  test: {
    name: 'sqlite3',
    include: ['database/**/*', 'services/scim-lists', 'cli/transcripts-*'].map(
      (name) => `test/${name}.test.ts`,
    ),
    globalSetup: ['sqlite3', 'sqlite', 'release'].map((name) => `test/support/setup-${name}.ts`),
    env: { IDCTL_TEST_SQLITE_DRIVER: 'sqlite3' },
  },
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: [...tests('pure'), ...slowOnNone],
          globalSetup: ['test/support/setup-release.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'release',
          include: tests('release'),
          globalSetup: ['test/support/setup-packages.ts'],
        },
      },
      on('sqlite', [...slow, 'test/services/explain-truth.test.ts']),
      on('postgres', [...slow, ...neutral]),
      sqlite3,
    ],
  },
});
