import { readFileSync } from 'node:fs';
import { versionText } from './version.ts';

/**
 * What is asked at every turn, by scripts and by hand, answered before anything is loaded: the version, and in a release
 * the help as its build wrote it down. Null for anything else.
 */
export function readyAnswer(word: string): string | null {
  if (word === '--version') return `${versionText()}\n`;
  if (!['--help', '-h', 'help'].includes(word)) return null;
  try {
    return readFileSync(new URL('./help.txt', import.meta.url), 'utf8');
  } catch {
    // The sources have none: their help is made of the commands.
    return null;
  }
}
