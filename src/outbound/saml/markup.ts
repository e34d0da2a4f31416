import type { MarkupReason } from '../../reasons.ts';

// Checks of a text before it is parsed (security S11). They cost little: the parser takes a second
// for 256 KiB of nested elements, and 5,000 levels overflow the stack of later steps. Only tags are
// left after these checks, each closed by its own name.

/** The maximum depth of elements. */
const maxDepth = 50;
/** A response with 1,000 groups has about 1,100 elements. Verifying it takes up to 170 ms. */
const maxElements = 1500;
const maxAttributes = 3000;
/**
 * The maximum number of namespace declarations on an element and the elements around it. The parser
 * copies all of them for each element. Some providers repeat two of them at each value of an attribute.
 */
const maxNamespaces = 60;

/** Thrown for a text that is not read. */
export class MarkupFault extends Error {
  readonly reason: MarkupReason;

  constructor(reason: MarkupReason, message: string = reason) {
    super(message);
    this.reason = reason;
  }
}

const declaration = /^<\?xml [^?<>]*\?>/;

/** Throws if the text is not plain nested tags within the limits. */
export function checkMarkup(text: string, maxBytes: number): void {
  if (Buffer.byteLength(text) > maxBytes) throw new MarkupFault('too_large');
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw new MarkupFault('doctype_present');
  // Comments, CDATA and processing instructions: two readers may disagree on the text around them.
  if (text.includes('<!') || text.replace(declaration, '').includes('<?'))
    throw new MarkupFault('markup_forbidden');
  checkCharacters(text);
  checkNesting(text);
}

// Characters that XML does not allow (XML 1.0 §2.2), but the parser does. The databases do not store
// all of them.
const forbidden = /[^\t\n\r\P{Cc}]|[\uFFFE\uFFFF]/u;
const reference = /&#(x[\da-f]+|\d+);/gi;

function checkCharacters(text: string): void {
  if (forbidden.test(text)) throw new MarkupFault('malformed');
  for (const [, digits = ''] of text.matchAll(reference)) {
    const code = Number(digits.replace(/^x/i, '0x'));
    const character = code <= 0x10ffff ? String.fromCodePoint(code) : '\0';
    if (forbidden.test(character) || !character.isWellFormed()) throw new MarkupFault('malformed');
  }
}

// From one `<` to the next, and the tag at its start. Both patterns read each character once: a name
// ends before a space, a slash or the end of the tag.
const piece = /<[^<]*/g;
const tag = /^<(\/?)([^\s/>"'=]+)(?=[\s/>])((?:[^>"']|"[^"]*"|'[^']*')*)>/;

function checkNesting(text: string): void {
  const open: { name: string; namespaces: number }[] = [];
  let elements = 0;
  let attributes = 0;
  // Text may stand only inside the root.
  if (!text.startsWith('<')) throw new MarkupFault('malformed');
  for (const [part] of text.matchAll(piece)) {
    const [whole = '', closing, name = '', rest = ''] = tag.exec(part) ?? [];
    if (closing === '/') {
      if (open.pop()?.name !== name) throw new MarkupFault('malformed');
    } else if (!name.startsWith('?')) {
      elements += 1;
      attributes += rest.split('=').length - 1;
      const namespaces = (open.at(-1)?.namespaces ?? 0) + rest.split('xmlns').length - 1;
      open.push({ name, namespaces });
      if (namespaces > maxNamespaces) throw new MarkupFault('too_many_elements');
      if (open.length > maxDepth) throw new MarkupFault('too_deep');
      if (rest.endsWith('/')) open.pop();
    }
    if (whole === '' || (open.length === 0 && part.slice(whole.length).trim() !== ''))
      throw new MarkupFault('malformed');
    if (elements > maxElements || attributes > maxAttributes)
      throw new MarkupFault('too_many_elements');
  }
  if (open.length > 0) throw new MarkupFault('malformed');
}

/** The first tag as an empty element; an empty text if there is none, or it is too long. */
export function rootTag(text: string): string {
  const [first = ''] = /^<[^<]*/.exec(text.slice(0, 10_000).replace(declaration, '').trim()) ?? [];
  const [whole = ''] = tag.exec(first) ?? [];
  return whole.replace(/\/?>$/, '/>');
}

/** The text without comments, which metadata may have. */
export function withoutComments(text: string): string {
  const [first = '', ...rest] = text.split('<!--');
  return (
    first +
    rest
      .map((part) => {
        const end = part.indexOf('-->');
        if (end < 0) throw new MarkupFault('malformed');
        return part.slice(end + 3);
      })
      .join('')
  );
}
