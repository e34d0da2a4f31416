const shortestWord = 3;

let common: Promise<ReadonlySet<string>> | undefined;

/**
 * Whether the text, in lower case, is among the some fifty thousand passwords that are tried first
 * (security P7).
 */
export async function isCommon(text: string): Promise<boolean> {
  common ??= readCommon();
  return (await common).has(text);
}

/**
 * Read when a password is first chosen: the list is half a megabyte, and most commands never need
 * it.
 */
async function readCommon(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}

/**
 * The words that anyone who knows the person would try: the texts and their parts, longest first.
 */
export function wordsOf(texts: (string | null)[]): string[] {
  const whole = texts.filter((text) => text !== null).map((text) => text.toLowerCase());
  const parts = whole.flatMap((text) => [...text.split('@'), ...text.split(/[^\p{L}\p{N}]+/u)]);
  const words = [...whole, ...parts].filter((word) => word.length >= shortestWord);
  return [...new Set(words)].toSorted((a, b) => b.length - a.length);
}

/** Removes those words from a text: they make a password longer, not harder to guess. */
export function withoutWords(text: string, words: string[]): string {
  return words.reduce((rest, word) => rest.replaceAll(word, ''), text);
}
