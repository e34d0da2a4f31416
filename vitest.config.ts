import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { postgresMissing } from './test/support/postgres.ts';
import { neutral, slow, slowOnNone } from './test/support/where.ts';

const onDatabases = ['services', 'http', 'security', 'database', 'cli', 'e2e', 'faults'];
const onNone = ['pure', 'outbound', 'crypto', 'config', 'install'];

const tests = (folders: string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`);

const missing = await postgresMissing();
if (missing !== null) {
  const message = `The tests on PostgreSQL cannot run: ${missing}`;
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`${message}\n`);
}

const postgres = {
  extends: true as const,
  test: {
    name: 'postgres',
    setupFiles: ['test/support/setup-file.ts'],
    include: tests(onDatabases),
    exclude: [...configDefaults.exclude, ...slow, ...neutral],
    globalSetup: ['test/support/setup-postgres.ts', 'test/support/setup-release.ts'],
  },
};

export default defineConfig({
  test: {
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // A worker loads the sources once, not for each of its files, which took a quarter of the time.
    // No test mocks a module, and a module of `test/` registers no hook when it is imported.
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', ['json', { outputFile: '.tmp/test-results.json' }]],
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: tests(onNone),
          exclude: [...configDefaults.exclude, ...slowOnNone],
          globalSetup: ['test/support/setup-release.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'sqlite',
          setupFiles: ['test/support/setup-file.ts'],
          include: tests(onDatabases),
          exclude: [...configDefaults.exclude, ...slow],
          globalSetup: ['test/support/setup-sqlite.ts', 'test/support/setup-release.ts'],
        },
      },
      ...(missing === null ? [postgres] : []),
    ],
  },
});
