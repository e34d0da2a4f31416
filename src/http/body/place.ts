import type { Request, Response } from 'express';
import type { Context } from '../../context.ts';
import type { Patience, Turns } from '../../host/turns.ts';
import { turnsOf } from '../../services/foundation/limits/turns.ts';
import { readBytes } from './bytes.ts';
import { largeBody } from './thread.ts';

// Limits the number of large bodies in memory (security O15).

/**
 * Reads a body of up to `limit` bytes. At most eight of one sender that may be large arrive at
 * a time. A slow sender keeps only its own waiting. Null if the client leaves before its end.
 */
export function readInTurn(
  process: Pick<Context, 'memory'>,
  sender: string,
  request: Request,
  response: Response,
  limit: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const read = () => readBytes(request, response, limit);
  const bytes = Number(request.headers['content-length'] ?? limit);
  // A longer body is refused unread.
  return bytes <= largeBody || bytes > limit ? read() : turnsOf(process).arriving.run(sender, read);
}

/**
 * Waits for a place for a large body that has arrived, before it is parsed. The request keeps the
 * place until it is answered. Without `patience`, it waits as long as it takes.
 */
export function keepPlace(
  turns: Turns,
  sender: string,
  response: Response,
  patience?: Patience,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const hold = async () => {
      resolve();
      await answered(response);
    };
    turns.run(sender, hold, patience).catch(reject);
  });
}

function answered(response: Response): Promise<void> {
  return new Promise((resolve) => {
    if (response.closed) resolve();
    else response.once('close', () => resolve());
  });
}
