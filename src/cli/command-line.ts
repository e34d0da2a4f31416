import { shellWord } from '../text/shell-word.ts';

/** A command line with one argument, after `--` if it would be read as an option. */
export function commandLine(command: string, argument: string, options = ''): string {
  const word = shellWord(argument);
  const words = argument.startsWith('-')
    ? [command, options, '--', word]
    : [command, word, options];
  return words.filter((each) => each !== '').join(' ');
}
