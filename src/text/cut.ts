/**
 * Cuts a long text, so that it takes at most `max` bytes in a page or in JSON, where a character
 * may be escaped.
 */
export function cut(text: string, max: number): string {
  if (text.length * 6 <= max) return text;
  let left = max;
  for (let at = 0; at < text.length; at += 1) {
    left -= weightOf(text.charCodeAt(at));
    if (left < 0)
      return `${text
        .slice(0, at)
        .toWellFormed()
        .replace(/\ufffd$/, '')}…`;
  }
  return text;
}

const escaped = new Set(Array.from('"&\'<>\\', (sign) => sign.charCodeAt(0)));

/** The maximum number of bytes of one UTF-16 unit in HTML or JSON. */
function weightOf(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  if (unit < 0x20 || isSurrogate || escaped.has(unit)) return 6;
  return unit < 0x7f ? 1 : 3;
}
