import { resolve } from 'node:path';
import { startVitest, type TestCase } from 'vitest/node';
import type { Entered } from './coverage.ts';
import { heading } from './print.ts';

declare module 'vitest' {
  interface TaskMeta {
    entered?: Entered;
  }
}

/**
 * Measures one request of each kind, and prints the files and functions that it enters; with
 * `list`, the names of the files too. A failed request fails the process.
 */
export async function printRequests(list: boolean): Promise<void> {
  heading('One request of each kind: files and functions of src that it enters');
  const onTestCaseResult = (test: TestCase) => report(test, list);
  // Vitest opens the instance and the counterparts as for a test. Its own transformation of modules
  // would add functions, so Node runs them as they are.
  const vitest = await startVitest('test', [], {
    config: false,
    root: resolve(import.meta.dirname, '../..'),
    include: ['test/figures/requests.ts'],
    globalSetup: ['test/support/setup-sqlite.ts'],
    setupFiles: ['test/support/setup-file.ts'],
    experimental: { viteModuleRunner: false },
    pool: 'forks',
    watch: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: [{ onTestCaseResult, onTestRunEnd: reportErrors }],
  });
  await vitest.close();
}

function report(test: TestCase, list: boolean): void {
  const { entered } = test.meta();
  const { state, errors = [] } = test.result();
  if (entered === undefined) {
    // A suite that is skipped has the name of the Debian package that it needs.
    const needs = test.parent.type === 'suite' ? test.parent.name : '';
    const why = state === 'skipped' ? `not measured, needs the Debian package ${needs}` : state;
    process.stdout.write(`${test.name.padEnd(64)} ${why}\n`);
    for (const { message, stack } of errors) process.stderr.write(`${stack ?? message}\n`);
    return;
  }
  const { files, functions } = entered;
  const shown = `${files.length} files, ${functions.length} functions`;
  process.stdout.write(`${test.name.padEnd(64)} ${shown}\n`);
  if (list) for (const file of files) process.stdout.write(`  ${file}\n`);
}

/** Prints the errors outside of a request, such as when the instance does not open. */
function reportErrors(
  modules: readonly { errors(): { message: string }[] }[],
  unhandled: readonly { message: string }[],
): void {
  const all = [...modules.flatMap((one) => one.errors()), ...unhandled];
  for (const { message } of all) process.stderr.write(`${message}\n`);
}
