/** Text as one word of a command line to be typed: quoted where a shell would read it otherwise. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
