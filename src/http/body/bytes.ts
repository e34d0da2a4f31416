import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import { Refusal } from '../../errors.ts';
import type { Next } from '../../next.ts';

/** Whether the headers of the request announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Refuses a body that is compressed or not in UTF-8. */
export function requirePlain({ headers }: Request, hint: Next): void {
  const charset = /;\s*charset="?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1];
  const coding = headers['content-encoding'] ?? 'identity';
  if (/^utf-?8$/i.test(charset ?? 'utf-8') && /^identity$/i.test(coding)) return;
  throw new Refusal('unsupported_media_type', 'The body must be plain text in UTF-8.', { hint });
}

/** Reads the body, up to `limit` bytes. Null if the client leaves before its end. */
export async function readBytes(
  request: Request,
  response: Response,
  limit: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (Number(request.headers['content-length']) > limit) throw tooLarge(limit);
  // The client may have left while the request waited for its turn.
  if (request.destroyed && !request.complete) return null;
  // The client of a large body may wait for this before it sends the body (RFC 9110 §10.1.1).
  if (request.headers.expect !== undefined) response.writeContinue();
  const parts: Uint8Array[] = [];
  let size = 0;
  const whole = await new Promise<boolean>((resolve, reject) => {
    request.on('data', (part: Uint8Array) => {
      size += part.length;
      if (size > limit) {
        request.removeAllListeners('data').pause();
        reject(tooLarge(limit));
      } else parts.push(part);
    });
    request.once('end', () => resolve(true));
    request.once('close', () => resolve(request.complete));
    request.once('error', () => resolve(false));
  });
  if (!whole) return null;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function tooLarge(limit: number): Refusal {
  return new Refusal('payload_too_large', `The body is larger than ${limit / 1024} KiB.`);
}

/** The text of a body. Leaves out a byte order mark. */
export function textOfBytes(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
