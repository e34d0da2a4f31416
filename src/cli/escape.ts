/** Control and bidirectional characters: what can move a cursor, hide text or turn it round. */
const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** The text with control and bidirectional characters spelled out (security X9). */
export function escaped(text: string): string {
  return text.replace(unprintable, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
