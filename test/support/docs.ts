import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

// The pages of the documentation, for the tests that check them.

/** The folder of the checkout. */
export const checkout = resolve(import.meta.dirname, '../..');

/** Every page: the README, the CHANGELOG, and those below docs/. Paths are relative to the checkout. */
export const pages = ['README.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: checkout })];

/** The pages for the people who use or run idctl, and not for auditors or developers. */
export const userPages = pages.filter(
  (page) => page !== 'CHANGELOG.md' && !/^docs\/(evidence|development)\//.test(page),
);

/** The text of a page, by its path in the checkout. */
export function textOf(page: string): string {
  return readFileSync(join(checkout, page), 'utf8');
}

/** The anchors that GitHub gives the headings of a text. */
export function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .replace(/\]\([^)]*\)/g, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}

/** A text without its code blocks. */
export function withoutCode(text: string): string {
  return text.replace(/^ *(```+)[\s\S]*?^ *\1$/gm, '');
}
