// Security X9: characters that are invisible, move a cursor or reverse text. The same rule holds
// for names and for terminals.

// Languages and emoji need some invisible characters: a joiner between two letters or emoji, one
// variation selector after a character. Elsewhere they hide data, so the rule checks their
// neighbours.
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

/** Whether the text is free of invisible characters. */
export function isSeen(text: string): boolean {
  return text.search(unseen) === -1;
}

/** Replaces all invisible characters in the text. */
export function replaceUnseen(text: string, by: (hidden: string) => string): string {
  return text.replace(unseen, by);
}

/** Whether the text is the id of a provider: an issuer, or an entity ID, which may be any URI. */
export function isProviderId(text: string): boolean {
  return /^[\x20-\x7e]{1,1024}$/.test(text);
}
