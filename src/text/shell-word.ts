/**
 * Quotes text as one word of a command line, unless a shell reads it unchanged. A backslash stands
 * outside the quotes, because fish interprets it inside them too.
 */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replace(/['\\]/g, "'\\$&'")}'`;
}
