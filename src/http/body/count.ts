import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { BodyLimits } from './limits.ts';

/** The maximum depth of objects and lists in a body. */
const depthLimit = 32;

/** After this many bytes, other requests may run. */
const slice = 512 * 1024;

const backslash = 0x5c;
const [word, space, quote, colon, comma, opens, closes] = [0, 1, 2, 3, 4, 5, 6];

/** What each byte begins, or continues: a word is a number, true, false or null. */
const kinds = new Uint8Array(256).fill(word, 0x21).fill(space, 0, 0x21);
for (const [text, kind] of [
  ['"', quote],
  [':', colon],
  [',', comma],
  ['{[', opens],
  ['}]', closes],
] as const)
  for (const byte of Buffer.from(text)) kinds[byte] = kind;

/**
 * Says why a JSON text is too much: its values (objects, lists and scalars, without keys), the keys
 * of an object, or its depth. Null if it is not, and for a text that is not JSON. Reads the bytes,
 * because parsing them would already take long (security X11).
 */
export async function excessOf(
  bytes: Uint8Array,
  { values, keys }: Omit<BodyLimits, 'bytes'>,
): Promise<string | null> {
  const tooMany = `The body has more than ${values} JSON values.`;
  let count = 0;
  // The number of keys so far in each open object; 0 for a list.
  const open: number[] = [];
  // Whether the last token was a string, which a colon turns into a key.
  let wasString = false;
  let pause = slice;
  for (let at = 0; at < bytes.length; at += 1) {
    if (at > pause) {
      await yieldToEventLoop();
      pause = at + slice;
    }
    const kind = kinds[bytes[at] ?? 0];
    if (kind === space) continue;
    if (kind === comma) {
      wasString = false;
      continue;
    }
    if (kind === quote) {
      for (at += 1; at < bytes.length && kinds[bytes[at] ?? 0] !== quote; at += 1)
        if (bytes[at] === backslash) at += 1;
      count += 1;
    } else if (kind === colon) {
      if (wasString) count -= 1;
      const found = (open.pop() ?? 0) + 1;
      if (found > keys) return `An object in the body has more than ${keys} keys.`;
      open.push(found);
    } else if (kind === opens) {
      count += 1;
      if (open.push(0) > depthLimit) return `The body nests deeper than ${depthLimit} levels.`;
    } else if (kind === closes) {
      if (open.pop() === undefined) return null;
    } else {
      while (kinds[bytes[at + 1] ?? 0] === word) at += 1;
      count += 1;
    }
    wasString = kind === quote;
    // The last string may still be a key.
    if (count > values + (wasString ? 1 : 0)) return tooMany;
  }
  return count > values ? tooMany : null;
}
