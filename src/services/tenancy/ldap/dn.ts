import { isUtf8 } from 'node:buffer';

// Distinguished names (RFC 4514) in the form used for comparisons. Types and values are in
// lower case, several spaces become one, and the parts of a multi-valued RDN are sorted. A DN is
// sent to the directory exactly as it was received.

/** One byte escaped as two hexadecimal digits, or one character, with or without a backslash. */
const piece = /\\[0-9a-f]{2}|\\[\s\S]|[^\\]/giu;
const type = /^([a-z][a-z0-9-]*|\d+(\.\d+)*)$/;

/** The canonical RDNs from the entry to the root; null if the text is empty or not a DN. */
export function canonicalDn(text: string): string[] | null {
  const pieces: string[] = text.match(piece) ?? [];
  // A backslash at the end does not escape anything. Quotes and semicolons are syntax of LDAPv2.
  if (pieces.join('') !== text || pieces.some((one) => one === '"' || one === ';')) return null;
  const rdns = split(pieces, ',').map((rdn) => {
    const parts = split(rdn, '+').map(canonicalPart);
    return parts.includes(null) ? null : parts.sort().join('+');
  });
  return rdns.every((rdn) => rdn !== null) ? rdns : null;
}

/** The parent DNs of a DN, nearest first, as written in its text; empty if the text is not a DN. */
export function parentsOf(text: string): string[] {
  if (canonicalDn(text) === null) return [];
  const rdns = split(text.match(piece) ?? [], ',').map((rdn) => rdn.join(''));
  return rdns.slice(1).map((_, at) =>
    rdns
      .slice(at + 1)
      .join(',')
      .trim(),
  );
}

/** Whether a DN is the base or below it; both canonical. */
export function isUnder(dn: readonly string[], base: readonly string[]): boolean {
  const above = dn.length - base.length;
  return above >= 0 && base.every((rdn, at) => rdn === dn[above + at]);
}

/** The domain of a canonical DN: its `dc=` components at the end, or else its last component. */
export function realmOf(dn: readonly string[]): string[] {
  const at = dn.findLastIndex((rdn) => !rdn.startsWith('dc='));
  return dn.slice(Math.min(at + 1, dn.length - 1));
}

/** The folded common name in the first RDN of a canonical DN; null if the RDN is anything else. */
export function commonNameOf(dn: readonly string[]): string | null {
  const [rdn = ''] = dn;
  return rdn.startsWith('cn=') && !/(?<!\\)\+/.test(rdn)
    ? rdn.slice(3).replace(/\\(.)/gu, '$1')
    : null;
}

/** Folds the Unicode form, case and spaces of a value for comparison. */
export function foldValue(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/ +/g, ' ').trim();
}

function split(pieces: string[], separator: string): string[][] {
  const parts: string[][] = [[]];
  for (const one of pieces) {
    if (one === separator) parts.push([]);
    else parts.at(-1)?.push(one);
  }
  return parts;
}

function canonicalPart(pieces: string[]): string | null {
  const at = pieces.indexOf('=');
  const name = pieces.slice(0, at).join('').trim().toLowerCase();
  if (at === -1 || !type.test(name)) return null;
  const value = rawValue(pieces.slice(at + 1));
  return value === null
    ? null
    : `${name}=${foldValue(value)
        .replace(/[\\,+]/g, '\\$&')
        .replace(/\0/g, '\\00')}`;
}

function rawValue(pieces: string[]): string | null {
  const first = pieces.findIndex((one) => one !== ' ');
  const last = pieces.findLastIndex((one) => one !== ' ');
  const inner = first === -1 ? [] : pieces.slice(first, last + 1);
  const bytes = Buffer.concat(inner.map(bytesOf));
  return isUtf8(bytes) ? bytes.toString() : null;
}

function bytesOf(one: string): Buffer {
  if (!one.startsWith('\\')) return Buffer.from(one);
  return /^\\[0-9a-f]{2}$/i.test(one)
    ? Buffer.from(one.slice(1), 'hex')
    : Buffer.from(one.slice(1));
}
