import type { Request, Response } from 'express';
import type { Context } from '../../context.ts';
import { largeBodyLate } from '../../services/foundation/limits/turns.ts';
import { largeBody } from './thread.ts';

interface Sender {
  /** The account, the organization of a SCIM client, or the kind of a caller without an account. */
  key: string;
  /** Whether the request waits as long as it takes, and not only five seconds. */
  patient: boolean;
  /** The most bytes of the body. A longer one needs no place, because it is not read. */
  limit: number;
}

/**
 * Waits for a place before a body over 1 MiB is read. The request keeps its place until it is
 * answered, so two such bodies of a sender are in memory, and eight in total (security O15).
 * Refuses `overloaded`.
 */
export function waitForPlace(
  { turns }: Pick<Context, 'turns'>,
  { key, patient, limit }: Sender,
  { headers }: Request,
  response: Response,
): Promise<void> {
  const bytes = Number(headers['content-length'] ?? limit);
  if (bytes <= largeBody || bytes > limit) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const hold = async () => {
      resolve();
      await answered(response);
    };
    turns.body.run(key, hold, patient ? undefined : largeBodyLate).catch(reject);
  });
}

function answered(response: Response): Promise<void> {
  return new Promise((resolve) => {
    if (response.closed) resolve();
    else response.once('close', () => resolve());
  });
}
