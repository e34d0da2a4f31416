// bash inserts what a completion answers as it is, so the answer is written in bash's own quoting (security X9). bash gives
// the line as typed: its words have to be read by the same rules.

/** A word of a line of bash, as far as it is typed. */
interface Word {
  raw: string;
  /** What bash will read it as. */
  value: string;
  /** The quote that is still open at its end. */
  quote: '' | "'" | '"';
  /** bash would expand something in it, or it ends in the middle of an escape: then its value is not known. */
  live: boolean;
}

const liveOutside = /[$`*?[\]{}~!#<>|&;()\n]/;
const liveInDouble = /[$`!]/;
const escapedInDouble = /[$`"\\]/;
// Nothing in it means anything to bash, wherever in a word it stands.
const plain = /^[\w./@:%+,=-]*$/;

/** The words of a line; the last one, which may be empty, is the one being typed. */
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

/** Reads one sign of a word, or two where the first escapes the second; answers how many. */
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

/**
 * What bash is to put in place of `replaced`, with which the word ends as it is typed, for it to become each of the
 * values; those that do not go on from what is typed are left out.
 */
export function repliesFor(word: Word, replaced: string, values: readonly string[]): string[] {
  if (word.live || !word.raw.endsWith(replaced)) return [];
  const kept =
    readWords(word.raw.slice(0, word.raw.length - replaced.length)).at(-1) ?? emptyWord();
  const rests = values
    .filter((value) => value.startsWith(word.value) && value.startsWith(kept.value))
    .map((value) => value.slice(kept.value.length));
  if (kept.quote === "'") return rests.map((rest) => `${inSingle(rest)}'`);
  if (kept.quote === '"') return rests.map((rest) => `${inDouble(rest)}"`);
  // All of them alike, so that bash finds what they have in common.
  return rests.every((rest) => plain.test(rest))
    ? rests
    : rests.map((rest) => `'${inSingle(rest)}'`);
}

function inSingle(text: string): string {
  return text.replaceAll("'", `'\\''`);
}

/** In double quotes bash keeps the backslash before a `!`. */
function inDouble(text: string): string {
  return text.replace(/[$`"\\]/g, '\\$&').replaceAll('!', `"'!'"`);
}

function emptyWord(): Word {
  return { raw: '', value: '', quote: '', live: false };
}
