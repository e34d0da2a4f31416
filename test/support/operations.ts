import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8');

/** The fenced blocks of docs/operations.md in this language, in their order. */
export function blocksOf(language: 'sh' | 'nginx' | 'yaml'): string[] {
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, named]) => named === language)
    .map(([, , text = '']) => text);
}
