// Security X9: what cannot be seen, moves a cursor or turns text round. One rule for names and for terminals.

// Languages and emoji need some invisible characters: a joiner between two letters or emoji, one variation selector behind
// a sign. Elsewhere they hide data, so the rule asks what stands beside them.
const ignorable = String.raw`\p{Default_Ignorable_Code_Point}`;
const joiner = String.raw`[\u200c\u200d]`;
const selector = String.raw`[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`;
const letter = String.raw`(?!${ignorable})[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]`;
const sign = String.raw`(?!${ignorable})[\p{L}\p{M}\p{N}\p{P}\p{S}]`;

const unseen = new RegExp(
  [
    String.raw`[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029\ufff9-\ufffb]`,
    `(?!${joiner}|${selector})${ignorable}`,
    String.raw`(?<!${letter}|\p{Extended_Pictographic}\ufe0f)${joiner}`,
    `${joiner}(?!${letter})`,
    `(?<!${sign})${selector}`,
  ].join('|'),
  'gu',
);

/** Whether everything in the text can be seen. */
export function isSeen(text: string): boolean {
  return text.search(unseen) === -1;
}

/** The text with everything that cannot be seen replaced. */
export function replaceUnseen(text: string, by: (hidden: string) => string): string {
  return text.replace(unseen, by);
}
