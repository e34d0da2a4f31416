import { isUtf8 } from 'node:buffer';

// ldapts trusts all lengths that a directory sends. A wrong length puts it into an endless loop
// that nothing interrupts (observed with 9.2). So messages are first assembled, limited and checked
// here.

/** The RFC 4511 tags of supported responses. */
const tags = { bind: 0x61, entry: 0x64, done: 0x65, reference: 0x73, extended: 0x78 } as const;
const [sequence, set, integer, octets, enumerated, controls] = [0x30, 0x31, 0x02, 0x04, 0x0a, 0xa0];

/** A BER element: its tag, and the start and end of its content. */
interface Element {
  tag: number;
  from: number;
  to: number;
}

/** A message that has passed the checks. */
export interface SoundMessage {
  /** The message without its controls, as none were requested. */
  bytes: Buffer;
  /**
   * The result code, and whether the message is an extended response, as to StartTLS. Null for an
   * entry or a search reference.
   */
  result: { code: number; extended: boolean } | null;
}

/** The size of the message; null for an incomplete head, Infinity for a malformed one. */
export function sizeOf(head: Buffer): number | null {
  if (head.length === 0) return null;
  if (head[0] !== sequence) return Number.POSITIVE_INFINITY;
  if (head.length < 2) return null;
  const short = head.readUInt8(1);
  if (short < 0x80) return 2 + short;
  const count = short & 0x7f;
  if (count === 0 || count > 4) return Number.POSITIVE_INFINITY;
  return head.length < 2 + count ? null : 2 + count + head.readUIntBE(2, count);
}

/** Checks a complete message. Null if a length or type in it violates RFC 4511 §4. */
export function soundMessage(bytes: Buffer): SoundMessage | null {
  const [whole] = elements(bytes, { tag: sequence, from: 0, to: bytes.length }) ?? [];
  const [id, operation, rest, ...more] = (whole && elements(bytes, whole)) ?? [];
  if (whole?.to !== bytes.length || id?.tag !== integer || operation === undefined) return null;
  if (id.to - id.from < 1 || id.to - id.from > 4 || more.length > 0) return null;
  if (rest !== undefined && rest.tag !== controls) return null;
  const result = resultIn(bytes, operation);
  if (result === undefined) return null;
  return { bytes: framed(bytes.subarray(whole.from, operation.to)), result };
}

/** Splits the input into messages and passes on valid ones. `fail` gets the first error. */
export function messageReader(
  max: number,
  take: (message: SoundMessage) => void,
  fail: (reason: 'too_large' | 'malformed') => void,
): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let received = 0;
  let have = 0;
  let size: number | null = null;
  const next = (): Buffer | null => {
    // Joins the chunks only once the message is complete, so that many small chunks stay cheap.
    if (size === null)
      size = sizeOf(Buffer.concat(chunks.slice(0, 6).map((chunk) => chunk.subarray(0, 6))));
    if (size === null || have < size) return null;
    const all = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    const message = all.subarray(0, size);
    chunks = have > size ? [all.subarray(size)] : [];
    have -= size;
    size = null;
    return message;
  };
  return (chunk) => {
    received += chunk.length;
    if (received > max) return fail('too_large');
    chunks.push(chunk);
    have += chunk.length;
    for (let bytes = next(); bytes !== null; bytes = next()) {
      const message = soundMessage(bytes);
      if (message === null) return fail('malformed');
      take(message);
    }
    if (size !== null && size > max) fail(Number.isFinite(size) ? 'too_large' : 'malformed');
  };
}

/** The result of a response. Null for a message without a result, undefined for a malformed one. */
function resultIn(bytes: Buffer, operation: Element): SoundMessage['result'] | undefined {
  const inside = elements(bytes, operation);
  if (inside === null) return undefined;
  switch (operation.tag) {
    case tags.entry:
      return isEntry(bytes, inside) ? null : undefined;
    case tags.reference:
      return inside.every(({ tag }) => tag === octets) ? null : undefined;
    case tags.bind:
    case tags.done:
    case tags.extended: {
      const code = codeIn(bytes, inside);
      return code === null ? undefined : { code, extended: operation.tag === tags.extended };
    }
    default:
      return undefined;
  }
}

/**
 * The code of an LDAPResult. Optional fields may follow: referral, serverSaslCreds, responseName,
 * responseValue.
 */
function codeIn(bytes: Buffer, [code, matched, said, ...more]: Element[]): number | null {
  if (code?.tag !== enumerated || matched?.tag !== octets || said?.tag !== octets) return null;
  if (more.some(({ tag }) => ![0xa3, 0x87, 0x8a, 0x8b].includes(tag))) return null;
  return code.to - code.from === 1 ? bytes.readUInt8(code.from) : null;
}

/** Whether the elements form an entry. Its DN must be UTF-8, because binds send it as received. */
function isEntry(bytes: Buffer, [dn, attributes, ...more]: Element[]): boolean {
  if (dn?.tag !== octets || attributes?.tag !== sequence || more.length > 0) return false;
  if (!isUtf8(bytes.subarray(dn.from, dn.to))) return false;
  return elements(bytes, attributes)?.every((one) => isAttribute(bytes, one)) ?? false;
}

function isAttribute(bytes: Buffer, attribute: Element): boolean {
  const [type, values, ...more] = elements(bytes, attribute) ?? [];
  if (attribute.tag !== sequence || type?.tag !== octets || values?.tag !== set || more.length > 0)
    return false;
  return elements(bytes, values)?.every(({ tag }) => tag === octets) ?? false;
}

/** The elements within this one, or null if they do not fill it exactly. */
function elements(bytes: Buffer, { from, to }: Element): Element[] | null {
  const found: Element[] = [];
  for (let at = from; at < to; ) {
    const element = elementAt(bytes, at, to);
    if (element === null) return null;
    found.push(element);
    at = element.to;
  }
  return found;
}

function elementAt(bytes: Buffer, at: number, end: number): Element | null {
  if (at + 2 > end) return null;
  const short = bytes.readUInt8(at + 1);
  const count = short < 0x80 ? 0 : short & 0x7f;
  const from = at + 2 + count;
  if (short === 0x80 || count > 4 || from > end) return null;
  const to = from + (count === 0 ? short : bytes.readUIntBE(at + 2, count));
  return to > end ? null : { tag: bytes.readUInt8(at), from, to };
}

function framed(content: Buffer): Buffer {
  const head = Buffer.from([sequence, 0x84, 0, 0, 0, 0]);
  head.writeUInt32BE(content.length, 2);
  return Buffer.concat([head, content]);
}
