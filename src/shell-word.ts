/**
 * Text as one word of a command line to be typed: quoted where a shell would read it otherwise. A backslash stands outside
 * the quotes, since fish reads it inside them too.
 */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replace(/['\\]/g, "'\\$&'")}'`;
}

/** A command to be typed with one argument, which stands behind `--` where it would be read as an option. */
export function commandLine(command: string, argument: string, options = ''): string {
  const word = shellWord(argument);
  const words = argument.startsWith('-')
    ? [command, options, '--', word]
    : [command, word, options];
  return words.filter((each) => each !== '').join(' ');
}
