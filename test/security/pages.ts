import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

// Helpers for the tests of security.md and asvs.md in docs/evidence/.

const tests = resolve(import.meta.dirname, '..');
const evidence = resolve(tests, '../docs/evidence');

// Matches the title after `test(`, `it(` or `describe(`, with or without `.skipIf(…)`, or after the
// `)(` that closes an `.each(…)`.
const named =
  /(?:\b(?:test|it|describe)(?:\.\w+(?:\((?:[^()]|\([^()]*\))*\))?)*\(|\)\()\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)\s*,/g;

/** The titles of all tests and describe blocks, as they stand in their files. */
export const names = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .flatMap((file) => [...readFileSync(join(tests, file), 'utf8').matchAll(named)])
  .map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replace(/\\(.)/g, '$1'),
  );

/** The text of a page in docs/evidence/. */
export function pageOf(name: string): string {
  return readFileSync(join(evidence, name), 'utf8');
}

/** The words of test names that a text quotes in italics. */
export function quoted(text: string): string[] {
  return [...text.replace(/\s+/g, ' ').matchAll(/\*([^*]+)\*/g)].map((words) => words[1] ?? '');
}

/** The rules that a page in docs/evidence/ links to without a target. */
export function undefinedRules(name: string): string[] {
  const page = pageOf(name);
  const defined = [...page.matchAll(/^\[(\w+)\]: \S+$/gm)].map(([, id = '']) => id);
  return [...page.matchAll(/\[([IDSLPOX]\d{1,2})\](?![(:])/g)]
    .map(([, id = '']) => id)
    .filter((id) => !defined.includes(id));
}
