import type { BodyLimits } from './limits.ts';

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [brace, bracket, endOfBrace, endOfBracket] = [0x7b, 0x5b, 0x7d, 0x5d];

/** The most levels of objects and lists in a body. */
const depthLimit = 32;

/**
 * Says why a JSON text is too much: its values (objects, lists and scalars, without keys), the keys
 * of an object, or its depth. Null if it is not. Reads the bytes, because parsing them would already
 * take long (security X11).
 */
export function excessOf(
  bytes: Uint8Array,
  { values, keys }: Omit<BodyLimits, 'bytes'>,
): string | null {
  let count = 0;
  // The number of keys so far in each open object; 0 for a list.
  const open: number[] = [];
  // Whether the last token was a string, which a colon turns into a key.
  let wasString = false;
  let isInWord = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte <= 0x20) {
      isInWord = false;
      continue;
    }
    if (byte === quote) {
      for (at += 1; at < bytes.length && bytes[at] !== quote; at += 1)
        if (bytes[at] === backslash) at += 1;
      count += 1;
    } else if (byte === colon) {
      if (wasString) count -= 1;
      const found = (open.pop() ?? 0) + 1;
      if (found > keys) return `An object in the body has more than ${keys} keys.`;
      open.push(found);
    } else if (byte === brace || byte === bracket) {
      count += 1;
      if (open.push(0) > depthLimit) return `The body nests deeper than ${depthLimit} levels.`;
    } else if (byte === endOfBrace || byte === endOfBracket) open.pop();
    else if (byte !== comma && !isInWord) count += 1;
    wasString = byte === quote;
    isInWord = !wasString && !isMark(byte);
    // The last string may still be a key.
    if (count > values + (wasString ? 1 : 0))
      return `The body has more than ${values} JSON values.`;
  }
  return count > values ? `The body has more than ${values} JSON values.` : null;
}

function isMark(byte: number): boolean {
  if (byte === colon || byte === comma || byte === brace) return true;
  return byte === bracket || byte === endOfBrace || byte === endOfBracket;
}
