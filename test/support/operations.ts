import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8');

type Language = 'sh' | 'nginx' | 'yaml';

/** The fenced blocks of docs/operations.md in this language, in their order. */
export function blocksOf(language: Language): string[] {
  return blocksIn(page, language);
}

/** The fenced blocks of a page in this language, in their order. */
export function blocksIn(text: string, language: Language): string[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, named]) => named === language)
    .map(([, , block = '']) => block);
}

/** The configuration file of this path that docs/operations.md shows. */
export function documentedFile(path: string): string {
  for (const [, indent = '', text = ''] of page.matchAll(/^( *)```\w+\n([\s\S]*?)^\1```$/gm)) {
    const file = text.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    if (file.split('\n')[0]?.replace(/^[#;] /, '') === path) return file;
  }
  throw new Error(`docs/operations.md lacks the file ${path}`);
}
