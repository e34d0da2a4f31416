import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { foundByOthers } from './mutations/found-by-others.ts';
import { ofSaml } from './mutations/saml.ts';
import { ofSamlConnection } from './mutations/saml-connection.ts';
import { type Mutation, mutations } from './mutations/table.ts';

// Takes one rule at a time out of a copy of the source, and checks that its test then fails.
// `npm run mutations` runs all, and `npm run mutations -- S2 P16` those of the named rules. Run it
// before a release, and add a mutation when a rule gets a new clause.

const reported = z.object({ numPassedTests: z.int(), numFailedTests: z.int() });

const root = join(import.meta.dirname, '..');
const copy = join(root, '.tmp/mutations');

const wanted = process.argv.slice(2);
const chosen = [...mutations, ...foundByOthers, ...ofSaml, ...ofSamlConnection].filter(
  ({ rule }) => wanted.length === 0 || wanted.includes(rule),
);
makeCopy();
const survived = chosen.filter((mutation) => !isNoticed(mutation));
rmSync(copy, { recursive: true });
process.stdout.write(`\n${chosen.length - survived.length} noticed, ${survived.length} survived\n`);
process.exitCode = survived.length === 0 && chosen.length > 0 ? 0 : 1;

function makeCopy(): void {
  rmSync(copy, { recursive: true, force: true });
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  for (const file of files.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

/** Whether a test fails after the mutation, although it passes in the suite. */
function isNoticed({ rule, without, file, from, to, test, named }: Mutation): boolean {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${file} does not contain once: ${from}`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  const { total, failed } = runTests(test, named);
  writeFileSync(path, text);
  const outcome = total === 0 ? 'NO TEST RAN' : failed === 0 ? 'SURVIVED' : 'noticed';
  process.stdout.write(`${outcome.padEnd(11)} ${rule.padEnd(4)} without ${without}\n`);
  return outcome === 'noticed';
}

/** Runs the tests on SQLite, or without a database. Returns how many ran, and how many failed. */
function runTests(test: string, named = ''): { total: number; failed: number } {
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const results = join(copy, '.tmp/test-results.json');
  rmSync(results, { force: true });
  const project = /^test\/(pure|outbound|install)\//.test(test) ? 'pure' : 'sqlite';
  const words = ['run', '--project', project, test, '-t', named];
  spawnSync(process.execPath, [vitest, ...words], { cwd: copy, stdio: 'ignore' });
  // The counts are vitest's own. A file that does not load has no test.
  const { numPassedTests: passed, numFailedTests: failed } = reported.parse(
    JSON.parse(readFileSync(results, 'utf8')),
  );
  return { total: passed + failed, failed };
}
