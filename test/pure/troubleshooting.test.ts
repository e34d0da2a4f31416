import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkout, textOf } from '../support/docs.ts';

// Compares the sentences that docs/troubleshooting.md quotes with the sources.

/** A text without the values in it, and with simple apostrophes. */
const plain = (text: string) => {
  let bare = text.replaceAll('’', "'").replace(/\\(.)/g, '$1');
  // The inner values of a template come first.
  for (let depth = 0; depth < 3; depth += 1) bare = bare.replace(/\$\{[^{}]*\}/g, '…');
  return bare.replace(/\s+/g, ' ');
};

const sources = globSync('src/**/*.ts', { cwd: checkout })
  .map((file) => plain(readFileSync(join(checkout, file), 'utf8')))
  .join('\n');
const quoted = [...textOf('docs/troubleshooting.md').matchAll(/^### (.*)$/gm)].map(
  ([, sentence = '']) => sentence,
);

test('the page answers at least 25 sentences, none twice', () => {
  expect(quoted.length).toBeGreaterThanOrEqual(25);
  expect(new Set(quoted).size).toBe(quoted.length);
});

test.each(quoted)('"%s" is a sentence of idctl', (sentence) => {
  expect(sources.includes(plain(sentence))).toBe(true);
});
