import { globSync } from 'node:fs';
import { checkout, textOf } from './docs.ts';

// The pages for operators. Their commands run one after the other on one instance, in this order.
const names = [
  ...['scripts', 'proxy', 'postgresql', 'high-availability', 'limits', 'monitoring', 'backup'],
  ...['upgrade', 'owners', 'keys', 'base-url'],
];
const found = globSync('docs/operations/*.md', { cwd: checkout });
if (found.length !== names.length) throw new Error('a page of docs/operations/ is not in the list');
const paths = ['docs/operations.md', ...names.map((name) => `docs/operations/${name}.md`)];
const pages = paths.map(textOf).join('\n');

type Language = 'sh' | 'nginx' | 'caddy' | 'yaml';

/** The fenced blocks of the pages for operators in this language, in their order. */
export function blocksOf(language: Language): string[] {
  return blocksIn(pages, language);
}

/** The fenced blocks of a page in this language, in their order. */
export function blocksIn(text: string, language: Language): string[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, named]) => named === language)
    .map(([, , block = '']) => block);
}

/** The configuration file of this path that the pages for operators show. */
export function documentedFile(path: string): string {
  for (const [, indent = '', text = ''] of pages.matchAll(/^( *)```\w+\n([\s\S]*?)^\1```$/gm)) {
    const file = text.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    if (file.split('\n')[0]?.replace(/^[#;] /, '') === path) return file;
  }
  throw new Error(`docs/operations/ lacks the file ${path}`);
}
