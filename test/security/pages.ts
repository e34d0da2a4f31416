import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

// Helpers for the tests of docs/security.md and docs/asvs.md.

const tests = resolve(import.meta.dirname, '..');
const docs = resolve(tests, '../docs');

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

/** The text of a page in docs/. */
export function pageOf(name: string): string {
  return readFileSync(join(docs, name), 'utf8');
}

/** The words of test names that a text quotes in italics. */
export function quoted(text: string): string[] {
  return [...text.replace(/\s+/g, ' ').matchAll(/\*([^*]+)\*/g)].map((words) => words[1] ?? '');
}

/** The rule links of a page in docs/ that it does not define, and its links to missing headings. */
export function brokenLinks(name: string): string[] {
  const page = pageOf(name);
  const defined = new Map(
    [...page.matchAll(/^\[(\w+)\]: (\S+)$/gm)].map(([, id = '', to = '']) => [id, to]),
  );
  const undefinedIds = [...page.matchAll(/\[([IDSLPOX]\d{1,2})\](?![(:])/g)]
    .map(([, id = '']) => id)
    .filter((id) => !defined.has(id));
  const inline = [...page.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to);
  const targets = [...inline, ...defined.values()].filter((to) => !/^https?:/.test(to));
  const missing = targets.filter((to) => {
    const [file = '', anchor] = to.split('#');
    const text = pageOf(file === '' ? name : file);
    return anchor !== undefined && !anchorsOf(text).includes(anchor);
  });
  return [...undefinedIds, ...missing];
}

/** The anchors that GitHub makes of the headings. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
