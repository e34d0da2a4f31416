// bash inserts a completion unchanged, so the answer must be quoted for bash (security X9). bash
// also passes the line as typed, so idctl reads its words with bash's quoting rules.

/** A word of a bash line; the last word may be incomplete. */
interface Word {
  raw: string;
  /** The value that bash will read. */
  value: string;
  /** The quote that is still open at the end of the word. */
  quote: '' | "'" | '"';
  /** The value is unknown: bash would expand a part, or the word ends inside an escape. */
  live: boolean;
}

const liveOutside = /[$`*?[\]{}~!#<>|&;()\n]/;
const liveInDouble = /[$`!]/;
const escapedInDouble = /[$`"\\]/;
// Words of characters that bash never treats specially.
const plain = /^[\w./@:%+,=-]*$/;

/** Splits a line into words. The last word is still being typed, and may be empty. */
export function readWords(line: string): [...Word[], Word] {
  const before: Word[] = [];
  let word = emptyWord();
  for (let at = 0; at < line.length; at += 1) {
    const sign = line.charAt(at);
    if (word.quote === '' && (sign === ' ' || sign === '\t')) {
      if (word.raw !== '') before.push(word);
      word = emptyWord();
      continue;
    }
    const next = line.charAt(at + 1);
    const taken = readSign(word, sign, next);
    word.raw += sign + (taken === 2 ? next : '');
    at += taken - 1;
  }
  return [...before, word];
}

/** Reads one character of a word, or two if the first escapes the second. Returns the count. */
function readSign(word: Word, sign: string, next: string): 1 | 2 {
  const { quote } = word;
  if (quote !== '' && sign === quote) {
    word.quote = '';
    return 1;
  }
  if (quote === '' && (sign === "'" || sign === '"')) {
    word.quote = sign;
    return 1;
  }
  if (sign === '\\' && quote !== "'") {
    if (next === '') word.live = true;
    else if (quote === '' || escapedInDouble.test(next)) {
      word.value += next;
      return 2;
    }
  }
  if (quote === '' ? liveOutside.test(sign) : quote === '"' && liveInDouble.test(sign))
    word.live = true;
  word.value += sign;
  return 1;
}

/** The replacements for `replaced`, the end of the word, that turn the word into each value. */
export function repliesFor(word: Word, replaced: string, values: readonly string[]): string[] {
  if (word.live || !word.raw.endsWith(replaced)) return [];
  const kept =
    readWords(word.raw.slice(0, word.raw.length - replaced.length)).at(-1) ?? emptyWord();
  const rests = values
    .filter((value) => value.startsWith(word.value) && value.startsWith(kept.value))
    .map((value) => value.slice(kept.value.length));
  if (kept.quote === "'") return rests.map((rest) => `${inSingle(rest)}'`);
  if (kept.quote === '"') return rests.map((rest) => `${inDouble(rest)}"`);
  // Quotes all values or none, so that bash finds their common prefix.
  return rests.every((rest) => plain.test(rest))
    ? rests
    : rests.map((rest) => `'${inSingle(rest)}'`);
}

function inSingle(text: string): string {
  return text.replaceAll("'", `'\\''`);
}

/** Closes the double quotes around a `!`: within them, bash keeps the backslash before it. */
function inDouble(text: string): string {
  return text.replace(/[$`"\\]/g, '\\$&').replaceAll('!', `"'!'"`);
}

function emptyWord(): Word {
  return { raw: '', value: '', quote: '', live: false };
}
