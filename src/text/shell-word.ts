/**
 * Quotes text as one word of a command line, unless a shell reads it unchanged. A backslash stands
 * outside the quotes, because fish interprets it inside them too.
 */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replace(/['\\]/g, "'\\$&'")}'`;
}

/** A command line with one argument, after `--` if it would be read as an option. */
export function commandLine(command: string, argument: string, options = ''): string {
  const word = shellWord(argument);
  const words = argument.startsWith('-')
    ? [command, options, '--', word]
    : [command, word, options];
  return words.filter((each) => each !== '').join(' ');
}
